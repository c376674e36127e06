/** The rules for a channel's mappings, which the server and the console's form check alike. */
export { isStatusMapping, mappingFault } from '#domain/shared/channel-mappings.ts'
