import { required } from 'millrace';
export default () => { throw required('id'); };
