export default () => "plain <text> & more";
