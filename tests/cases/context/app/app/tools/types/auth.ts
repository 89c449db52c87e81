export default () => ({ subject: 'ada', claims: { tenant: 7, tags: ['a', 'b'] } });
