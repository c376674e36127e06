/** The state of a stream: `open` while events are forwarded, then the reason for its end. */
export type StreamVerdict =
  | 'open'
  | 'done'
  | 'error'
  | 'model-fault'
  | 'no-result'
  | 'overflow'
  | 'screened'
  | 'over-limit'
  | 'balance-spent'

/** The destination of a stream. `write` returns false if it accepts no more bytes for now. */
export type ByteSink = { readonly write: (bytes: Buffer) => boolean }
