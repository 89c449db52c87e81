import { required } from 'millrace';
export default () => required('x');
