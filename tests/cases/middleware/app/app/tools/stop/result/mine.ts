import { response } from 'millrace';
export default () => response({ a: 1 }).build();
