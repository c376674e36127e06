import { WITH_LOOK_UP, WITH_STEPS } from '../notes.ts'
import { FLAG, integer, type OptionType } from '../option-type.ts'
import type { OptionSection } from '../schema.ts'

const STEPS: OptionType = { kind: 'choice', choices: ['hour', 'day', 'week'] }

export const STATISTICS: OptionSection = {
  id: 'statistics',
  tab: 'other',
  title: { zh: '日志与数据看板', en: 'Logs and dashboard' },
  options: [
    {
      key: 'LogConsumeEnabled',
      type: FLAG,
      preset: 'true',
      label: { zh: '启用额度消费日志记录', en: 'Keep usage logs' },
      help: {
        zh: '为兼容而保留：账单以事件为依据，用量始终记录。',
        en: 'Kept for compatibility: bills rest on events, so that usage is always recorded.',
      },
    },
    {
      key: 'DataExportEnabled',
      type: FLAG,
      preset: 'true',
      label: { zh: '启用数据看板', en: 'Dashboard' },
    },
    {
      key: 'DataExportInterval',
      type: integer(1, 1_440),
      preset: '5',
      unit: 'minute',
      label: { zh: '数据看板更新间隔', en: 'Dashboard refresh' },
      help: {
        zh: '为兼容而保留：数据看板实时更新。',
        en: 'Kept for compatibility: the dashboard is live.',
      },
    },
    {
      key: 'DataExportDefaultTime',
      type: STEPS,
      preset: 'hour',
      label: { zh: '数据看板默认时间粒度', en: 'Step of the dashboard' },
      choiceWords: {
        hour: { zh: '小时', en: 'Hour' },
        day: { zh: '天', en: 'Day' },
        week: { zh: '周', en: 'Week' },
      },
      note: WITH_STEPS,
    },
    {
      key: 'DisplayTokenStatEnabled',
      type: FLAG,
      preset: 'true',
      label: { zh: '额度查询接口返回令牌额度', en: 'Keys may look up their own quota' },
      help: {
        zh: '关闭后，额度查询接口返回用户额度。',
        en: 'Otherwise the look-up by a key answers the user’s quota.',
      },
      note: WITH_LOOK_UP,
    },
  ],
}
