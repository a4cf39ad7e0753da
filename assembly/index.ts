export * from './layout';
export { initialise, read } from './request';
export { summarise } from './series';
