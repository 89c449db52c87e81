import { toolError } from 'millrace';
export default () => { throw toolError('MINE', { message: "the factory's own secret words", retry_after: 3 }); };
