export default () => JSON.parse('{"__proto__": {"admin": true}, "constructor": 1, "prototype": 2, "ok": {"prototype": 2, "__proto__": {"admin": true}, "fine": 3, "list": [{"constructor": 1}]}}');
