import { createServer } from 'node:http'
import { listenOnFreePort } from './listen-on-free-port.ts'

export type ChatClient = { readonly url: string; readonly close: () => Promise<void> }

/**
 * Starts a server with a web page that acts as a third-party chat client. The page's URL contains
 * the gateway's address and a key.
 */
export async function startChatClient(): Promise<ChatClient> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
    response.end(PAGE)
  })
  return await listenOnFreePort(server)
}

/**
 * Returns the URL template of this chat client. The API key is in the URL fragment, because
 * browsers do not send the fragment to servers.
 */
export const chatTemplate = (url: string): string => `${url}/#key={key}&address={address}`

const STYLE = `
  :root { color-scheme: light dark; font: 15px/1.6 Arial, sans-serif }
  body { display: grid; grid-template: 1fr auto / minmax(0, 1fr); gap: 12px; box-sizing: border-box;
    max-width: 720px; height: 100vh; margin: 0 auto; padding: 24px 16px }
  ol { display: flex; flex-direction: column; gap: 10px; margin: 0; padding: 0; overflow: auto;
    list-style: none }
  li { max-width: 80%; padding: 8px 14px; border-radius: 14px; white-space: pre-wrap;
    overflow-wrap: anywhere; background: color-mix(in srgb, CanvasText 8%, Canvas) }
  li.mine { align-self: flex-end; color: #fff; background: #3158c9 }
  form { display: flex; gap: 8px }
  input { flex: 1; min-width: 0 }
  input, button { padding: 10px 14px; border: 1px solid GrayText; border-radius: 10px;
    font: inherit }`

const SCRIPT = `
  const link = new URLSearchParams(location.hash.slice(1))
  const zh = navigator.language.startsWith('zh')
  const [list, form, field] = ['ol', 'form', 'input'].map((name) => document.querySelector(name))
  const say = (text, mine) => {
    const line = list.appendChild(document.createElement('li'))
    if (mine) line.className = 'mine'
    line.textContent = text
    line.scrollIntoView()
    return line
  }
  const messages = []
  field.placeholder = zh ? '说点什么…' : 'Say something…'
  form.querySelector('button').textContent = zh ? '发送' : 'Send'
  say(zh ? '这是一个示例聊天客户端，正在使用你选择的令牌。'
    : 'This is a sample chat client. It speaks with the token that you chose.')
  form.onsubmit = async (event) => {
    event.preventDefault()
    const content = field.value.trim()
    if (content === '') return
    field.value = ''
    say(content, true)
    messages.push({ role: 'user', content })
    const line = say('…')
    try {
      const response = await fetch(link.get('address') + '/v1/chat/completions', {
        method: 'POST',
        headers: { authorization: 'Bearer ' + link.get('key'), 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'sim-small', messages }),
      })
      const answer = await response.json()
      if (!response.ok) throw new Error(answer.error?.message ?? response.status)
      messages.push(answer.choices[0].message)
      line.textContent = messages.at(-1).content
    } catch (error) {
      line.textContent = String(error.message ?? error)
    }
    line.scrollIntoView()
  }`

const PAGE =
  '<!doctype html><html lang="en"><meta charset="utf-8"><title>Demo chat</title>' +
  '<meta name="viewport" content="width=device-width">' +
  `<style>${STYLE}</style><body><ol></ol>` +
  '<form><input aria-label="Message" autocomplete="off"><button>Send</button></form>' +
  `<script>${SCRIPT}</script></body></html>`
