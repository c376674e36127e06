import { translate } from '#console/i18n/i18n.ts'
import { type ChatLink, chatAddress, chatWay } from '#console/ui/chat-links.ts'
import { fullKey } from '#console/ui/full-key.ts'
import type { MenuEntry } from '#console/ui/menu.tsx'
import { showError } from '#console/ui/toast.ts'
import type { Token } from '#read-api/contract/token.ts'

/** Menu entries that open the site's chat clients with a token; one that says so where are none. */
export function chatEntries(
  links: readonly ChatLink[],
  site: string,
  token: Pick<Token, 'key'>,
): MenuEntry[] {
  if (links.length === 0) {
    const onChoose = () => showError(translate('tokens.chatMissing'))
    return [{ id: 'chat', text: translate('tokens.chat'), icon: 'external', onChoose }]
  }
  return links.map(({ name, template }, index) => ({
    id: `chat-${index}`,
    text: translate('tokens.chatIn', { name }),
    icon: 'external',
    onChoose: () => openChat(chatAddress(template, site, fullKey(token.key))),
  }))
}

/** NOTE: the other site gets the key, as its link asks, and neither our address nor our window. */
function openChat(address: string | null): void {
  const isWrong = chatWay(address, window.location.origin) === 'none'
  if (address === null || isWrong) showError(translate('tokens.chatWrong'))
  else window.open(address, '_blank', 'noopener,noreferrer')
}
