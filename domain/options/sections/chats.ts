import type { OptionDefinition, OptionSection } from '../option-definition.ts'
import { FLAG, integer, LINK } from '../option-type.ts'

export const CHATS: OptionSection = {
  id: 'chats',
  tab: 'operation',
  title: { zh: '聊天链接设置', en: 'Chat links' },
  lead: {
    zh: '链接模板中的 {address} 与 {key} 会替换为服务器地址与令牌，客户端会得到该令牌。',
    en: '{address} and {key} stand for this site and a token, which the client gets to know.',
  },
  options: [
    {
      key: 'Chats',
      type: { kind: 'links' },
      preset: '[]',
      label: { zh: '聊天客户端', en: 'Chat clients' },
      help: {
        zh: '名称与链接的列表，例如 [{"客户端":"https://chat.example.com/?key={key}"}]。',
        en: 'A list of names with links, as [{"client":"https://chat.example.com/?key={key}"}].',
      },
    },
    {
      key: 'ChatLink',
      type: LINK,
      preset: '',
      label: { zh: '聊天链接', en: 'Chat link' },
      help: {
        zh: '/chat2link 会带着令牌跳转到此 https 地址；不含 {key} 时按常见格式附上设置。',
        en: 'Where /chat2link leads, over https. Without {key} the usual settings are added.',
      },
    },
    {
      key: 'ChatLink2',
      type: LINK,
      preset: '',
      label: { zh: '聊天链接 2', en: 'Second chat link' },
      help: {
        zh: '令牌菜单中的另一个客户端；未设置聊天链接时也用于 /chat2link。',
        en: 'Another client in the menu of a token, and for /chat2link where the first is empty.',
      },
    },
  ],
}

const flag = (key: string, preset: 'true' | 'false', zh: string, en: string): OptionDefinition => ({
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
