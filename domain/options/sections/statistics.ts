import { ALWAYS_RECORDED, WITH_LOOK_UP } from '../notes.ts'
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
      note: ALWAYS_RECORDED,
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
        zh: '实时连接中断时，数据看板每隔这么久重新读取一次。',
        en: 'How often the dashboard is read again while its live connection is away.',
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
      help: {
        zh: '打开数据看板时的粒度；范围随之为 24 小时、30 天或 90 天。',
        en: 'As the dashboard opens; its range follows: 24 hours, 30 days or 90 days.',
      },
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
