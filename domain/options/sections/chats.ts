import { LINK } from '../option-type.ts'
import type { OptionSection } from '../schema.ts'

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
