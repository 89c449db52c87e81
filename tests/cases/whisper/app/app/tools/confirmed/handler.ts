export default () => "deleted";
