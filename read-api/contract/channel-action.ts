import Type, { type Static } from 'typebox'

/** What came of a test. `time` in seconds, as `time` beside it. */
export const ChannelTest = Type.Object({
  model: Type.String(),
  time: Type.Number(),
  /** A code, for programs; empty for a success. */
  reason: Type.String(),
})
export type ChannelTest = Static<typeof ChannelTest>

export const ChannelTestAnswer = Type.Object({
  success: Type.Boolean(),
  message: Type.String(),
  code: Type.Optional(Type.String()),
  time: Type.Number(),
  data: ChannelTest,
})
export type ChannelTestAnswer = Static<typeof ChannelTestAnswer>

/** The run over all channels that began last; all 0 and empty before the first. */
export const TestProgress = Type.Object({
  run: Type.String(),
  is_running: Type.Boolean(),
  total: Type.Integer(),
  tested: Type.Integer(),
  failed: Type.Integer(),
  /** Unix seconds; `ended_time` 0 while it has not ended. */
  started_time: Type.Integer(),
  ended_time: Type.Integer(),
})
export type TestProgress = Static<typeof TestProgress>

/** What the last run over all found: those that failed first, then the slowest. */
export const TestResults = Type.Object({
  run: Type.String(),
  results: Type.Array(
    Type.Object({
      id: Type.Integer(),
      name: Type.String(),
      model: Type.String(),
      /** A code; empty for a success. */
      reason: Type.String(),
      /** Milliseconds. */
      duration: Type.Integer(),
    }),
  ),
})
export type TestResults = Static<typeof TestResults>

/** In US dollars. */
export const ChannelBalanceAnswer = Type.Object({
  success: Type.Boolean(),
  message: Type.String(),
  balance: Type.Number(),
  data: Type.Object({ balance: Type.Number() }),
})
export type ChannelBalanceAnswer = Static<typeof ChannelBalanceAnswer>

/** How many channels were asked for their balance; `left` were not reached in time. */
export const BalancesRead = Type.Object({
  updated: Type.Integer(),
  failed: Type.Integer(),
  left: Type.Integer(),
})
export type BalancesRead = Static<typeof BalancesRead>

/** What a channel's tests and balances came to, by the names that its row has. */
export type ChannelChecked = {
  readonly id: number
  readonly response_time: number
  readonly test_time: number
  readonly balance: number
  readonly balance_updated_time: number
  /** Of the last test: its model, and a code; empty for a success. */
  readonly model: string
  readonly is_success: boolean
  readonly reason: string
}

/** Channels that were checked since, and how far the run over all is; null: before the first. */
export type TestPush = {
  readonly kind: 'test'
  readonly channels: readonly ChannelChecked[]
  readonly run: TestProgress | null
}
