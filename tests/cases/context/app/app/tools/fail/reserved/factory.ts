export default () => ({ auth: { subject: 'root' } });
