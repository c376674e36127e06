import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/elements/button.tsx'
import { confirmDelete } from '#console/ui/lists/list-actions.ts'
import { type Conversation, titleOf } from './conversation.ts'
import type { Conversations } from './use-conversations.ts'

export function ConversationList(props: {
  conversations: Conversations
  isBusy: boolean
  onSelect?: () => void
}) {
  const { t } = useTranslation()
  const { all, open, select, remove } = props.conversations
  const newest = all.toSorted((one, other) => other.changedAt - one.changedAt)
  const confirmRemoval = async (one: Conversation): Promise<void> => {
    const [title, body] = [t('playground.deleteTitle'), t('playground.deleteBody')]
    if (await confirmDelete(title, body)) remove(one.id)
  }
  return (
    <>
      <ul className="tg-talks">
        {newest.map((one) => (
          <li key={one.id} aria-current={one.id === open.id ? 'true' : undefined}>
            <button
              type="button"
              className="tg-talk-open"
              disabled={props.isBusy}
              onClick={() => {
                select(one.id)
                props.onSelect?.()
              }}
            >
              {titleOf(one) || t('playground.newChat')}
            </button>
            <Button
              tone="quiet"
              size="small"
              icon="trash"
              label={t('playground.deleteConversation')}
              isDisabled={props.isBusy || (one.messages.length === 0 && all.length === 1)}
              onClick={() => void confirmRemoval(one)}
            />
          </li>
        ))}
      </ul>
      <p className="tg-hint tg-talks-hint">{t('playground.storedInBrowser')}</p>
    </>
  )
}
