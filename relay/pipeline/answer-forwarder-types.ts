import type { StreamForwarder } from './stream-forwarder.ts'

/**
 * The members of a forwarder that the steps of a call use. A forwarder passes an answer on to the
 * caller while the answer arrives.
 */
export type AnswerForwarder = Pick<
  StreamForwarder,
  | (
      | 'accepts'
      | 'binaryType'
      | 'push'
      | 'close'
      | 'continueForUsage'
      | 'pause'
      | 'endWith'
      | 'isFinished'
    )
  | ('terminalBytes' | 'verdict' | 'hasBegun' | 'hasDelivered' | 'isEnding' | 'errorEvent')
  | ('rawUsage' | 'answeredModel' | 'serviceTier' | 'hasTextAfterUsage' | 'usageAnomaly')
> & { readonly delivered: DeliveredAnswer } & Partial<
    Pick<StreamForwarder, 'start' | 'releaseStart'>
  >

/** The members by which a forwarder reports the part of the answer that it has delivered. */
export type DeliveredAnswer = Pick<
  StreamForwarder['delivered'],
  | 'bytes'
  | 'read'
  | 'toolUses'
  | 'imageCount'
  | 'estimateImageTokens'
  | 'estimateTokens'
  | 'tokensUpperBound'
>
