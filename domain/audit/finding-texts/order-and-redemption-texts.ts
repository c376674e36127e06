import { type Amount, movementName } from './names-in-finding-texts.ts'

/**
 * The texts of the findings about orders and redemption codes, and about the quota that they move.
 */
export const ORDER_TEXTS = {
  MovementRepeated: ({ movement, position }: { movement: string; position: number }) => ({
    zh: `${movementName(movement).zh}已记录在序号 ${position}`,
    en: `${movementName(movement).en} was already recorded at position ${position}`,
  }),
  MovementDiffers: (params: { movement: string; moved: Amount; expected: Amount }) => {
    const { movement, moved, expected } = params
    return {
      zh: `${movementName(movement).zh}变动了 ${moved}，应为 ${expected}`,
      en: `${movementName(movement).en} moved ${moved} instead of ${expected}`,
    }
  },
  AccountEventMissing: ({ movement }: { movement: string }) => ({
    zh: `${movementName(movement).zh}没有对应的账户事件`,
    en: `${movementName(movement).en} has no event of the account`,
  }),
  SourceMissing: ({ movement }: { movement: string }) => ({
    zh: `${movementName(movement).zh}没有对应的订单或兑换码`,
    en: `${movementName(movement).en} has no order or code`,
  }),
  CodeRedeemedAgain: ({ userId }: { userId: number }) => ({
    zh: `用户 ${userId} 重复使用了该兑换码`,
    en: `user ${userId} redeems the code again`,
  }),
  CodeUnknown: ({ code }: { code: number }) => ({
    zh: `兑换码 ${code} 不存在`,
    en: `code ${code} does not exist`,
  }),
  CodeUsesDiffer: ({ code, recorded, uses }: { code: number; recorded: number; uses: number }) => ({
    zh: `兑换码 ${code} 记录的是第 ${recorded} 次使用，应为第 ${uses} 次`,
    en: `code ${code} counts use ${recorded} instead of ${uses}`,
  }),
  CodeUsedUp: ({ code, uses, max }: { code: number; uses: number; max: number }) => ({
    zh: `兑换码 ${code} 最多可用 ${max} 次，已用 ${uses} 次`,
    en: `code ${code} was used ${uses} of ${max} times`,
  }),
  CodeQuotaDiffers: (params: { code: number; quota: Amount; expected: Amount }) => {
    const { code, quota, expected } = params
    return {
      zh: `兑换码 ${code} 发放了 ${quota}，应为 ${expected}`,
      en: `code ${code} gives ${quota} instead of ${expected}`,
    }
  },
  CodeDisabled: ({ code }: { code: number }) => ({
    zh: `兑换码 ${code} 已停用`,
    en: `code ${code} is disabled`,
  }),
  CodeNotYetValid: ({ code }: { code: number }) => ({
    zh: `兑换码 ${code} 尚未生效`,
    en: `code ${code} is not valid yet`,
  }),
  CodeExpired: ({ code }: { code: number }) => ({
    zh: `兑换码 ${code} 已过期`,
    en: `code ${code} has expired`,
  }),
  OrderUnknown: ({ order }: { order: number }) => ({
    zh: `订单 ${order} 不存在`,
    en: `order ${order} does not exist`,
  }),
  OrderNotPayable: ({ order }: { order: number }) => ({
    zh: `订单 ${order} 此前已支付，或属于其他用户`,
    en: `order ${order} is already paid, or is another user's`,
  }),
  RefundsExceedPayment: ({ movement, remaining }: { movement: string; remaining: Amount }) => ({
    zh: `${movementName(movement).zh}之后，订单剩余 ${remaining}`,
    en: `${movementName(movement).en} leaves ${remaining}`,
  }),
  OrderPartNotNext: ({ movement }: { movement: string }) => ({
    zh: `${movementName(movement).zh}顺序不对`,
    en: `${movementName(movement).en} is out of order`,
  }),
}
