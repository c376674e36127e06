/** The rules for a channel's mappings. The server and the console's form share them. */
export { isStatusMapping, mappingFault } from '#domain/shared/channel-mappings.ts'
