export default () => ({ whole: 3.0, half: 0.5, big: 9007199254740991, e: 1e21, minus: -0, list: [1, 2.5] });
