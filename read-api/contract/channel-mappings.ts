/**
 * The rules for a channel's mappings. The server and the form in the console use the same
 * functions.
 */
export { isStatusMapping, mappingFault } from '#domain/shared/channel-mappings.ts'
