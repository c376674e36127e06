import { FLAG } from '../option-type.ts'
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
  ],
}
