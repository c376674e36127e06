import type { TranslatedText } from '../../shared/translated-text.ts'

/** A count of quota. It is a bigint when a finding is reported, and text once it is stored. */
export type Amount = bigint | number | string

/**
 * A regular expression for keys, with the Chinese and the English text that replace a matching key.
 * The texts may refer to the groups of the expression.
 */
type Pattern = readonly [key: RegExp, zh: string, en: string]

function translatedKey(patterns: readonly Pattern[], key: string): TranslatedText {
  const match = patterns.find(([pattern]) => pattern.test(key))
  if (match === undefined) return { zh: key, en: key }
  const [pattern, zh, en] = match
  return { zh: key.replace(pattern, zh), en: key.replace(pattern, en) }
}

const MOVEMENTS: readonly Pattern[] = [
  [/^redemption (\S+) by user (\S+)$/, '用户 $2 对兑换码 $1 的兑换', '$&'],
  [/^order (\S+)$/, '订单 $1 的充值', '$&'],
  [/^order (\S+) refund (\S+)$/, '订单 $1 的第 $2 次退款', '$&'],
  [/^order (\S+) restoration (\S+)$/, '订单 $1 的第 $2 次退款撤销', '$&'],
  [/^rebate of order (\S+)$/, '订单 $1 的返佣', '$&'],
  [/^rebate of order (\S+) refund (\S+)$/, '订单 $1 第 $2 次退款的返佣扣回', '$&'],
  [/^rebate of order (\S+) restoration (\S+)$/, '订单 $1 第 $2 次退款撤销的返佣', '$&'],
]

/**
 * Returns the name of a movement of quota for an order or a redemption code. `key` is the key with
 * which `matchMovement` was called. Keys are stored with the state of an audit, so they are the
 * same in every release.
 */
export const movementName = (key: string): TranslatedText => translatedKey(MOVEMENTS, key)

const GRANTS: readonly Pattern[] = [
  [/^grant (.+)$/, '额度发放 $1', '$&'],
  [/^deduction (.+)$/, '额度扣减 $1', '$&'],
  [/^transfer (.+)$/, '奖励划转 $1', '$&'],
  [/^invitation (.+)$/, '邀请用户 $1 的奖励', '$&'],
  [/^credit of order (\S+) (\d+)$/, '订单 $1 第 $2 次退款撤销的入账', '$&'],
  [/^credit of order (\S+) $/, '订单 $1 的入账', 'credit of order $1'],
  [/^refund (\S+) of order (\S+)$/, '订单 $2 的第 $1 次退款', '$&'],
  [/^rebate of order (\S+) (\d+)$/, '订单 $1 第 $2 次退款撤销的返佣', '$&'],
  [/^rebate of order (\S+) $/, '订单 $1 的返佣', 'rebate of order $1'],
  [/^returned rebate (\S+) of order (\S+)$/, '订单 $2 第 $1 次退款的返佣扣回', '$&'],
  [/^correction (\S+) (\S+)$/, '更正 $1 的批次 $2', 'batch $2 of correction $1'],
]

/** Returns the name of a grant, deduction or other adjustment. `key` comes from `checkGrant`. */
export const grantName = (key: string): TranslatedText => translatedKey(GRANTS, key)

export type BalanceName = 'balance' | 'held' | 'affiliate'

/**
 * The Chinese names of an account's balances. The keys are their English names, as in the events
 * and the read model.
 */
export const BALANCE_NAMES: Readonly<Record<BalanceName, string>> = {
  balance: '余额',
  held: '预扣',
  affiliate: '奖励',
}

/**
 * The source of a checkpoint. `signed`: the transparency log. `earlier`: a caller who kept an
 * earlier checkpoint. `next`: the checkpoint that follows the last event of an export. `rotation`:
 * a replacement of the key.
 */
export type CheckpointSource = 'signed' | 'earlier' | 'next' | 'rotation'

export const CHECKPOINT_NAMES: Readonly<Record<CheckpointSource, TranslatedText>> = {
  signed: { zh: '签名检查点', en: 'the checkpoint' },
  earlier: { zh: '先前的检查点', en: 'an earlier checkpoint' },
  next: { zh: '下一个检查点', en: 'the next checkpoint' },
  rotation: { zh: '密钥轮换', en: 'the rotation of the key' },
}
