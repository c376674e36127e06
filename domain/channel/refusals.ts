import type { Refusal } from '../shared/refusal.ts'

export type ChannelRefusalCode =
  /** Never created, or deleted. */
  | 'ChannelUnknown'
  /** The id is another channel's. */
  | 'ChannelExists'
  | 'NameRequired'
  | 'ModelsRequired'
  /** None was given, or the address, kind or proxy changed and the key did not. */
  | 'KeyRequired'
  /** details: `field` (as on the wire) and `fault` (a `TermsFault`). */
  | 'InvalidField'

export type ChannelRefusal = Refusal<ChannelRefusalCode>
