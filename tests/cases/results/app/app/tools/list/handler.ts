export default () => [{ id: 1 }, { id: 2 }];
