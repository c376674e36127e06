import Type, { type Static } from 'typebox'
import { FetchModels } from '#write-api/contract/channels.ts'
import { ChannelType } from './channel-type-schema.ts'
import { IdParams } from './request-parameters.ts'
import { Envelope } from './response-envelope.ts'

/** The result of testing one channel. `time` is the duration of the test in seconds. */
const ChannelTest = Type.Object({
  model: Type.String(),
  time: Type.Number(),
  /** The error code of the test, or empty if the test succeeded. */
  reason: Type.String(),
})

const ChannelTestResponse = Type.Object({
  success: Type.Boolean(),
  message: Type.String(),
  code: Type.Optional(Type.String()),
  time: Type.Number(),
  data: ChannelTest,
})

/**
 * The progress of the latest test of all channels. Before the first such test, the numbers are 0
 * and the texts are empty.
 */
export const TestProgress = Type.Object({
  run: Type.String(),
  is_running: Type.Boolean(),
  total: Type.Integer(),
  tested: Type.Integer(),
  failed: Type.Integer(),
  /**
   * The time at which the test of all channels started, in Unix seconds. `ended_time` is 0 while
   * the test is running.
   */
  started_time: Type.Integer(),
  ended_time: Type.Integer(),
})
export type TestProgress = Static<typeof TestProgress>

/**
 * The results of the latest test of all channels. Channels whose test failed come first. All other
 * channels follow, slowest first.
 */
export const TestResults = Type.Object({
  run: Type.String(),
  results: Type.Array(
    Type.Object({
      id: Type.Integer(),
      name: Type.String(),
      model: Type.String(),
      /** The error code of the test, or empty if the test succeeded. */
      reason: Type.String(),
      /** The duration of the channel's test in milliseconds. */
      duration: Type.Integer(),
    }),
  ),
})
export type TestResults = Static<typeof TestResults>

/** A channel's balance at the provider in US dollars. */
const ChannelBalanceResponse = Type.Object({
  success: Type.Boolean(),
  message: Type.String(),
  balance: Type.Number(),
  data: Type.Object({ balance: Type.Number() }),
})

/**
 * The result of reading the balances of all channels. `left` is the number of channels that were
 * not read before the request's time limit.
 */
export const BalanceUpdate = Type.Object({
  updated: Type.Integer(),
  failed: Type.Integer(),
  left: Type.Integer(),
})
export type BalanceUpdate = Static<typeof BalanceUpdate>

/**
 * The results of the latest test and the latest balance check of a channel. The fields have the
 * same names as in the response for a channel.
 */
export type ChannelCheckResult = {
  readonly id: number
  readonly response_time: number
  readonly test_time: number
  readonly balance: number
  readonly balance_updated_time: number
  /**
   * The model with which the channel was tested. `reason` is the error code, or empty if the test
   * succeeded.
   */
  readonly model: string
  readonly is_success: boolean
  readonly reason: string
}

/**
 * A live message with the channels that were tested, or whose balance was read, since the previous
 * message. `run` is the progress of the latest test of all channels, or null.
 */
export type TestPush = {
  readonly kind: 'test'
  readonly channels: readonly ChannelCheckResult[]
  readonly run: TestProgress | null
}

const Names = Envelope(Type.Array(Type.String()))

const FLAG = Type.Union([Type.Literal('true'), Type.Literal('false'), Type.Literal('')])

export const channelChecks = {
  'GET /api/channel/fetch_models/:id': {
    summary: 'The models a channel’s provider lists',
    params: IdParams,
    response: { 200: Names },
  },
  'POST /api/channel/fetch_models': {
    summary: 'The models an address lists, before there is a channel for it',
    body: FetchModels,
    response: { 200: Names },
  },
  'GET /api/channel/types': {
    summary: 'The channel types that can be served',
    response: { 200: Envelope(Type.Array(ChannelType)) },
  },
  'GET /api/channel/test': {
    summary: 'Test all channels that are not turned off, in the background',
    response: { 200: Envelope(TestProgress) },
  },
  'GET /api/channel/test/progress': {
    summary: 'How far the last test of all channels is',
    response: { 200: Envelope(TestProgress) },
  },
  'GET /api/channel/test/results': {
    summary: 'What the last test of all channels found of each',
    response: { 200: Envelope(TestResults) },
  },
  'GET /api/channel/test/:id': {
    summary: 'Test a channel by one small request; `time` is in seconds',
    params: IdParams,
    querystring: Type.Object({
      model: Type.Optional(Type.String({ maxLength: 256 })),
      stream: Type.Optional(FLAG),
    }),
    response: { 200: ChannelTestResponse },
  },
  'GET /api/channel/update_balance/:id/': {
    summary: 'Ask what is left of a channel’s account, in US dollars',
    params: IdParams,
    response: { 200: ChannelBalanceResponse },
  },
  'GET /api/channel/update_balance': {
    summary: 'Ask for the balances of all enabled channels',
    response: { 200: Envelope(BalanceUpdate) },
  },
}
