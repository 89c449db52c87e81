import { toolError } from 'millrace';
export default () => toolError('LOCKED', { message: 'The books are closed.', suggestion: 'Ask for last month.' });
