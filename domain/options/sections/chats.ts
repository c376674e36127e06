import { WITH_CHATS } from '../notes.ts'
import { URL_TEXT } from '../option-type.ts'
import type { OptionSection } from '../schema.ts'

export const CHATS: OptionSection = {
  id: 'chats',
  tab: 'operation',
  title: { zh: '聊天链接设置', en: 'Chat links' },
  lead: {
    zh: '链接模板中的 {address} 与 {key} 会替换为服务器地址与令牌。',
    en: 'In a link, {address} and {key} stand for this site and a token.',
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
      type: URL_TEXT,
      preset: '',
      label: { zh: '聊天链接', en: 'Chat link' },
      note: WITH_CHATS,
    },
    {
      key: 'ChatLink2',
      type: URL_TEXT,
      preset: '',
      label: { zh: '聊天链接 2', en: 'Second chat link' },
      note: WITH_CHATS,
    },
  ],
}
