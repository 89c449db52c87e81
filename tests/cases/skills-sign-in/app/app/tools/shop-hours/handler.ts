export default () => "From nine to five.";
