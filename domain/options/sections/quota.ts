import { NOTHING_QUEUES } from '../notes-for-options-without-effect.ts'
import type { OptionSection } from '../option-definition.ts'
import { decimal, FLAG, integer, QUOTA_UNITS } from '../option-type.ts'

export const QUOTA: OptionSection = {
  id: 'quota',
  tab: 'operation',
  title: { zh: '额度设置', en: 'Quota' },
  lead: { zh: '赠送的额度、预扣规则与显示方式。', en: 'What is given, held and how it is shown.' },
  options: [
    {
      key: 'QuotaForNewUser',
      type: QUOTA_UNITS,
      preset: '0',
      unit: 'quota',
      label: { zh: '新用户初始额度', en: 'Quota of a new user' },
    },
    {
      key: 'PreConsumedQuota',
      type: QUOTA_UNITS,
      preset: '500',
      unit: 'quota',
      label: { zh: '请求预扣额度', en: 'Held for an answer without a limit' },
      help: {
        zh: '调用方没有给出输出上限时，先冻结的额度。',
        en: 'Set aside when the caller gives no limit for the answer.',
      },
    },
    {
      key: 'QuotaForInviter',
      type: QUOTA_UNITS,
      preset: '0',
      unit: 'quota',
      label: { zh: '邀请新用户奖励额度', en: 'Reward for an invitation' },
    },
    {
      key: 'QuotaForInvitee',
      type: QUOTA_UNITS,
      preset: '0',
      unit: 'quota',
      label: { zh: '新用户使用邀请码奖励额度', en: 'Reward for being invited' },
    },
    {
      key: 'QuotaRemindThreshold',
      type: QUOTA_UNITS,
      preset: '500000',
      unit: 'quota',
      label: { zh: '额度提醒阈值', en: 'Remind a user below this balance' },
      help: {
        zh: '用户没有自己设置时的默认值；0 表示不提醒。',
        en: 'For users who have not set their own; 0 sends no reminders.',
      },
    },
    {
      key: 'QuotaPerUnit',
      type: decimal('1', '1000000000'),
      preset: '500000',
      access: 'root',
      label: { zh: '每美元额度', en: 'Quota shown as one dollar' },
      help: {
        zh: '请勿随意更改：已有余额与所有价格都以此为基准（默认 500000）。',
        en: 'Do not change it lightly: balances and prices rest on it (500000 by default).',
      },
    },
    {
      key: 'DisplayInCurrencyEnabled',
      type: FLAG,
      preset: 'true',
      label: { zh: '以美元显示额度', en: 'Show quota in dollars' },
      help: {
        zh: '关闭后显示额度单位，过万缩写为 k、M、B。',
        en: 'Otherwise in quota units, with k, M and B from ten thousand on.',
      },
    },
    {
      key: 'StreamCacheQueueLength',
      type: integer(0, 10_000),
      preset: '0',
      label: { zh: '流式缓存队列长度', en: 'Stream lines kept in a queue' },
      note: NOTHING_QUEUES,
    },
    {
      key: 'CheckInEnabled',
      type: FLAG,
      preset: 'false',
      label: { zh: '启用每日签到', en: 'Daily check-in' },
    },
    {
      key: 'CheckInQuota',
      type: QUOTA_UNITS,
      preset: '0',
      unit: 'quota',
      label: { zh: '签到最低额度', en: 'Least quota of a check-in' },
    },
    {
      key: 'CheckInMaxQuota',
      type: QUOTA_UNITS,
      preset: '0',
      unit: 'quota',
      label: { zh: '签到最高额度', en: 'Most quota of a check-in' },
      notBelow: 'CheckInQuota',
      help: {
        zh: '不能低于最低额度；0 表示总是最低额度。',
        en: 'Not below the least; 0 always gives the least.',
      },
    },
  ],
}

export const REBATE: OptionSection = {
  id: 'rebate',
  tab: 'operation',
  title: { zh: '返佣设置', en: 'Invitations and rebates' },
  lead: {
    zh: '被邀请的用户充值后，按比例返还给邀请人。',
    en: 'When an invited user tops up, the inviter gets a share.',
  },
  options: [
    {
      key: 'AffEnabled',
      type: FLAG,
      preset: 'false',
      label: { zh: '启用邀请', en: 'Invitations' },
    },
    {
      key: 'RebateEnabled',
      type: FLAG,
      preset: 'false',
      label: { zh: '启用返佣', en: 'Rebates' },
    },
    {
      key: 'RebatePercentage',
      type: decimal('0', '100'),
      preset: '0',
      unit: 'percent',
      label: { zh: '返佣百分比', en: 'Rebate share' },
      boundsWords: {
        zh: '返佣百分比必须在0到100之间',
        en: 'The rebate share must be between 0 and 100',
      },
    },
  ],
}
