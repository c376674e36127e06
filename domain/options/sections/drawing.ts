import { FLAG, integer } from '../option-type.ts'
import type { OptionRow, OptionSection } from '../schema.ts'

const flag = (key: string, preset: 'true' | 'false', zh: string, en: string): OptionRow => ({
  key,
  type: FLAG,
  preset,
  label: { zh, en },
})

export const DRAWING: OptionSection = {
  id: 'drawing',
  tab: 'other',
  title: { zh: '绘图与音乐任务', en: 'Drawing and music tasks' },
  options: [
    flag('DrawingEnabled', 'false', '启用绘图功能', 'Drawing'),
    flag('MjNotifyEnabled', 'false', '允许绘图回调', 'Callbacks of the drawing service'),
    flag(
      'MjAccountFilterEnabled',
      'false',
      '允许 AccountFilter 参数',
      'Let callers choose drawing accounts',
    ),
    flag(
      'MjForwardUrlEnabled',
      'true',
      '将绘图结果转换为本站地址',
      'Serve drawings through this site',
    ),
    flag(
      'MjModeClearEnabled',
      'false',
      '清除提示词中的 --fast、--relax 与 --turbo',
      'Drop --fast, --relax and --turbo from prompts',
    ),
    flag(
      'MjActionCheckSuccessEnabled',
      'true',
      '操作之前检查原图是否成功',
      'Follow-ups only of finished drawings',
    ),
    {
      key: 'TaskEnabled',
      type: FLAG,
      preset: 'false',
      label: { zh: '启用音乐任务', en: 'Music tasks' },
    },
    {
      key: 'OpenTasksMax',
      type: integer(1, 10_000),
      preset: '100',
      label: { zh: '每个用户未完成任务上限', en: 'Unfinished tasks per user' },
      help: {
        zh: '绘图与音乐合计，超过后返回 429。每个任务每隔几秒向上游查询一次。',
        en: 'Drawing and music together; 429 beyond it. Each is asked about every few seconds.',
      },
    },
  ],
}
