export default () => [{ id: 1 }, { id: "hunter2" }];
