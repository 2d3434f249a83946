export { Api } from './client/api';
export { findAddress } from './client/address';
export { programOf } from './program';
