import type { ChannelBalanceRead, ChannelTested } from './events.ts'

export type RecordTest = { readonly type: 'RecordTest' } & ChannelTested['data']

export type RecordBalance = { readonly type: 'RecordBalance' } & ChannelBalanceRead['data']

export type ChannelChecksCommand = RecordTest | RecordBalance

export type StartTestRun = {
  readonly type: 'StartTestRun'
  readonly run: string
  readonly total: number
}

export type EndTestRun = {
  readonly type: 'EndTestRun'
  readonly run: string
  readonly tested: number
  readonly failed: number
}

export type TestRunCommand = StartTestRun | EndTestRun
