import { error } from 'millrace';
export default () => error('Not this one.');
