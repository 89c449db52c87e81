export default () => 'text';
