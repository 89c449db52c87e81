export default () => { throw new Error('Not today.'); };
