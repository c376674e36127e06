import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router-dom'
import {
  chatModelsOfGroup,
  chatModelsQuery,
  usableGroupsQuery,
} from '#console/api/own-user-group-and-model-queries.ts'
import { useUser } from '#console/api/session.ts'
import { fetchEnabledTokens } from '#console/api/token-and-redemption-queries.ts'
import { useRegisterActions } from '#console/ui/actions/action-registry.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { ErrorState } from '#console/ui/layout/error-state.tsx'
import { Page } from '#console/ui/layout/page.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { confirmDelete } from '#console/ui/lists/edit-delete-and-undo-actions.ts'
import { showError } from '#console/ui/messages/toast.ts'
import { exactQuotaText } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'
import { textParam } from '#console/ui/state/url-state.ts'
import { useMedia } from '#console/ui/state/use-media-query.ts'
import { useUrlState } from '#console/ui/state/use-url-state.ts'
import { ChatSettingsForm } from './chat-settings.tsx'
import { type Conversation, conversationCost, DEFAULT_SETTINGS, titleOf } from './conversation.ts'
import { MessageComposer } from './message-composer.tsx'
import { MessageList } from './message-list.tsx'
import { PlaygroundActions } from './playground-actions.tsx'
import { useChat } from './use-chat.ts'
import { type Conversations, useConversations } from './use-conversations.ts'
import '../../ui/forms/forms.css'
import './playground.css'
import './prose.css'

const LEAVE_AFTER_MS = 1_500

/**
 * Opens the page of tokens if the user has no enabled token. Returns true if the user may start
 * calls, or if the check fails. Returns false until the check has ended, because a redirect would
 * interrupt a call.
 */
function useTokenCheck(): boolean {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const { data: hasToken, isError } = useQuery({
    queryKey: ['has-enabled-token'],
    queryFn: async ({ signal }) => (await fetchEnabledTokens(1, signal)).items.length > 0,
    gcTime: 0,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new language must not run it again
  useEffect(() => {
    if (hasToken !== false) return
    showError(t('playground.noToken'), { staysOnNavigation: true })
    const timer = setTimeout(() => void navigate('/app/tokens'), LEAVE_AFTER_MS)
    return () => clearTimeout(timer)
  }, [hasToken])
  return hasToken ?? isError
}

function useChoices({ open, setSettings }: Conversations, ownGroup: string) {
  const groups = useQuery(usableGroupsQuery)
  const models = useQuery(chatModelsQuery)
  const group = groups.data && choiceOf(Object.keys(groups.data), open.settings.group, ownGroup)
  const ofGroup = useQuery(chatModelsOfGroup(group ?? ''))
  const offered = ofGroup.data ?? models.data
  const model = offered && choiceOf(offered, open.settings.model, DEFAULT_SETTINGS.model)
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs for each conversation
  useEffect(() => {
    if (group !== undefined && group !== open.settings.group) setSettings({ group })
    if (model && model !== open.settings.model) setSettings({ model })
  }, [open.id, group, model])
  const isSelected = group === open.settings.group && model === open.settings.model
  return {
    groups: groups.data ?? {},
    models: offered ?? [],
    isReady: Boolean(group) && Boolean(model) && isSelected && !ofGroup.isPending,
    hasNone: offered?.length === 0,
    error: groups.error ?? models.error,
    refetch: () => void Promise.all([groups.refetch(), models.refetch()]),
  }
}

const choiceOf = (choices: readonly string[], ...preferred: readonly string[]): string =>
  preferred.find((one) => choices.includes(one)) ?? choices[0] ?? ''

/**
 * A page for chatting with a model. The calls are made with the session of the user and not with a
 * token, and the user is charged for these calls.
 */
export function PlaygroundPage() {
  const { t } = useTranslation()
  const user = useUser()
  const hasToken = useTokenCheck()
  const conversations = useConversations(user?.id ?? 0)
  const { open, start, setSettings } = conversations
  useSettingsFromUrl(conversations)
  const chat = useChat(conversations, hasToken)
  const choices = useChoices(conversations, user?.group ?? '')
  const isTight = useMedia('(max-width: 1080px)')
  const begin = (): void => {
    if (!chat.isBusy) start()
  }
  useRegisterActions([
    { id: 'new-chat', title: t('playground.newChat'), icon: 'add', perform: begin },
  ])
  const form = { settings: open.settings, ...choices, onChange: setSettings }
  const settings = <ChatSettingsForm {...form} />
  const conversationList = (close: () => void) => (
    <ConversationList conversations={conversations} isBusy={chat.isBusy} onSelect={close} />
  )
  const drawers = isTight ? { settings, conversationList } : null
  return (
    <Page
      title={t('shell.playground')}
      lead={t('playground.lead')}
      actions={
        <PlaygroundActions
          drawers={drawers}
          conversation={open}
          begin={begin}
          isBusy={chat.isBusy}
        />
      }
    >
      {choices.error !== null ? (
        <ErrorState error={choices.error} onRetry={choices.refetch} />
      ) : (
        <div className="tg-play">
          <div className="tg-play-main">
            {choices.hasNone && open.messages.length === 0 ? (
              <NoModels />
            ) : (
              <MessageList conversation={open} chat={chat} />
            )}
            <MessageComposer chat={chat} isReady={choices.isReady} hasNone={choices.hasNone} />
            <ConversationFooter conversation={open} isTight={isTight} />
          </div>
          {!isTight && (
            <aside className="tg-play-side" aria-label={t('shared.settings')}>
              <Panel title={t('shared.settings')}>{settings}</Panel>
              <Panel title={t('playground.conversations')}>{conversationList(() => {})}</Panel>
            </aside>
          )}
        </div>
      )}
    </Page>
  )
}

function NoModels() {
  const { t } = useTranslation()
  const [title, body] = [t('playground.noModels'), t('playground.noModelsLead')]
  return <EmptyState icon="channels" title={title} body={body} />
}

function ConversationFooter(props: { conversation: Conversation; isTight: boolean }) {
  const { t } = useTranslation()
  const { model, group } = props.conversation.settings
  const amount = exactQuotaText(conversationCost(props.conversation), useMoneyRule())
  return (
    <p className="tg-play-foot">
      <span>{props.isTight ? `${model} · ${group}` : t('playground.keyboardHint')}</span>
      <span>{t('playground.conversationCost', { amount })}</span>
    </p>
  )
}

const URL_PARAMS = { model: textParam('', 256), group: textParam() }

/**
 * If the URL contains a model or a group, starts a conversation with these settings, and then
 * removes them from the URL.
 */
function useSettingsFromUrl({ start }: Conversations): void {
  const [{ model, group }, setUrlParams] = useUrlState(URL_PARAMS)
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once per link
  useEffect(() => {
    if (model === '' && group === '') return
    start({ ...(model === '' ? {} : { model }), ...(group === '' ? {} : { group }) })
    setUrlParams({ model: '', group: '' }, { replace: true })
  }, [model, group])
}

function ConversationList(props: {
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
      <p className="tg-hint">{t('playground.storedInBrowser')}</p>
    </>
  )
}
