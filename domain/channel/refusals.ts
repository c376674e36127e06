import type { Refusal } from '../shared/refusal.ts'

export type ChannelRefusalCode =
  /** Never created, or deleted. details where several were named: `id`. */
  | 'ChannelUnknown'
  /** Only another time to expire turns it on; where several were named: `names`, `more`. */
  | 'ChannelExpired'
  /** The id was given out before; details: `next`, the lowest that never was. */
  | 'ChannelExists'
  | 'NameRequired'
  | 'ModelsRequired'
  /** None was given, or the address, kind or proxy changed and the keys did not. */
  | 'KeyRequired'
  /** Several, in a channel that takes one. */
  | 'OneKeyOnly'
  /** details: `limit`. */
  | 'TooManyKeys'
  | 'TagRequired'
  /** No channel has it. */
  | 'TagUnknown'
  /** details: `field` (as on the wire) and `fault` (a `TermsFault`). */
  | 'InvalidField'

export type ChannelRefusal = Refusal<ChannelRefusalCode>
