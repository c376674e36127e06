import type { Amount } from './names-in-finding-texts.ts'

/** The texts of the findings about calls, their charges, and batches. */
export const CALL_TEXTS = {
  CallRepeated: ({ call }: { call: string }) => ({
    zh: `调用 ${call} 此前已准入`,
    en: `call ${call} was already admitted`,
  }),
  CallNotOpen: ({ call }: { call: string }) => ({
    zh: `调用 ${call} 不在进行中`,
    en: `call ${call} is not open`,
  }),
  CallOfOtherAccount: ({ call, stream }: { call: string; stream: string }) => ({
    zh: `调用 ${call} 属于 ${stream}`,
    en: `call ${call} is in ${stream}`,
  }),
  CallEndedTwice: ({ call }: { call: string }) => ({
    zh: `调用 ${call} 此前已结束`,
    en: `call ${call} has already ended`,
  }),
  HoldDiffers: ({ hold, recorded }: { hold: Amount; recorded: Amount }) => ({
    zh: `预扣应为 ${hold}，记录为 ${recorded}`,
    en: `the hold is ${hold}, not ${recorded}`,
  }),
  ReturnedHoldDiffers: ({ returned, hold }: { returned: Amount; hold: Amount }) => ({
    zh: `退回预扣 ${returned}，实际预扣为 ${hold}`,
    en: `returns ${returned} of ${hold}`,
  }),
  HoldOverdue: ({ call, hold, minutes }: { call: string; hold: Amount; minutes: number }) => ({
    zh: `调用 ${call} 的租期已过 ${minutes} 分钟，仍预扣 ${hold}`,
    en: `call ${call} still holds ${hold}, ${minutes} min after its lease`,
  }),
  ChargeDiffers: (params: { call: string; charge: Amount; expected: Amount }) => {
    const { call, charge, expected } = params
    return {
      zh: `调用 ${call} 扣费 ${charge}，按价格和用量应为 ${expected}`,
      en: `call ${call} was charged ${charge}, but price and usage give ${expected}`,
    }
  },
  PriceDiffers: ({ call }: { call: string }) => ({
    zh: `调用 ${call} 结算时的价格与准入时不同`,
    en: `call ${call} has another price than admitted`,
  }),
  UsageNotLastProgress: {
    zh: '中断时结算的用量不是最后一次进度的用量',
    en: 'the usage is not that of the last progress',
  },
  CorrectedChargeUnknown: ({ call, charge }: { call: string; charge: Amount }) => ({
    zh: `更正所依据的扣费不存在：调用 ${call} 没有 ${charge} 的扣费`,
    en: `call ${call} has no charge of ${charge}`,
  }),
  CorrectionUnknown: ({ correction }: { correction: string }) => ({
    zh: `更正 ${correction} 从未开始`,
    en: `correction ${correction} was not started`,
  }),
  CallNotInScope: ({ call, correction }: { call: string; correction: string }) => ({
    zh: `调用 ${call} 不在更正 ${correction} 的范围内`,
    en: `call ${call} is not in the scope of correction ${correction}`,
  }),
  CorrectedChargeDiffers: (params: { call: string; corrected: Amount; expected: Amount }) => ({
    zh: `调用 ${params.call} 更正为 ${params.corrected}，但按价格和用量应为 ${params.expected}`,
    en:
      `call ${params.call} is corrected to ${params.corrected}, ` +
      `but price and usage give ${params.expected}`,
  }),
  BatchUnknown: ({ batch }: { batch: string }) => ({
    zh: `批次 ${batch} 不存在`,
    en: `batch ${batch} is not known`,
  }),
  BatchNotOpen: ({ batch }: { batch: string }) => ({
    zh: `批次 ${batch} 没有进行中的调用`,
    en: `batch ${batch} has no open call`,
  }),
  BilledLinesDiffer: ({ charged, billed }: { charged: number; billed: number }) => ({
    zh: `结算了 ${charged} 行，但批次计费了 ${billed} 行`,
    en: `${charged} lines are charged, but the batch billed ${billed}`,
  }),
  LineNotNew: ({ line, batch }: { line: number; batch: string }) => ({
    zh: `批次 ${batch} 的第 ${line} 行重复计费，或不存在`,
    en: `line ${line} of batch ${batch} is billed twice, or does not exist`,
  }),
  LineChargeDiffers: ({ line, charge }: { line: number; charge: Amount }) => ({
    zh: `第 ${line} 行扣费 ${charge}，与价格和用量不符`,
    en: `the charge of line ${line} is ${charge}, which is not what price and usage give`,
  }),
}
