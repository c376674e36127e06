import type { TFunction } from 'i18next'
import { useTranslation } from 'react-i18next'
import { translate } from '#console/i18n/i18n.ts'
import type { Action } from '#console/ui/actions/action-registry.ts'
import { type ChatLink, chatAddress, openChat } from '#console/ui/chat-links/chat-links.ts'
import {
  actionsColumn,
  type Column,
  column,
  TITLE_COLUMN,
} from '#console/ui/data-grid/column-and-layout.ts'
import { CopyButton } from '#console/ui/elements/copy-to-clipboard.tsx'
import { GroupTag } from '#console/ui/elements/group-tag.tsx'
import { useHistoryActions } from '#console/ui/elements/history-link.tsx'
import { type MenuItem, RowMenu } from '#console/ui/elements/menu.tsx'
import { MiddleEllipsis } from '#console/ui/elements/middle-ellipsis.tsx'
import { StatusTag, type Tone } from '#console/ui/elements/status-tag.tsx'
import { stamp, Time } from '#console/ui/elements/time.tsx'
import { fullKey, maskedKey } from '#console/ui/elements/token-key.ts'
import { deleteAction, editAction } from '#console/ui/lists/edit-delete-and-undo-actions.ts'
import { RowSwitch } from '#console/ui/lists/row-actions.tsx'
import { showError } from '#console/ui/messages/toast.ts'
import { exactQuotaText, quotaText } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'
import type { Token } from '#read-api/contract/tokens.ts'
import { namesOf } from './token-draft.ts'
import { type TokenState, toggledStatus, tokenState, usedPercent } from './token-status.ts'
import type { TokenActions } from './use-token-actions.ts'

function chatEntries({ links, site }: Chats, token: Token): Action[] {
  if (links.length === 0) {
    const perform = () => showError(translate('ui.noChatLinks'))
    return [{ title: translate('ui.chat'), icon: 'external', perform }]
  }
  return links.map(({ name, template }) => ({
    title: translate('tokens.chatIn', { name }),
    icon: 'external',
    perform: () => openChat(chatAddress(template, site, fullKey(token.key))),
  }))
}

type Chats = { links: readonly ChatLink[]; site: string }

export const tokenColumns = (
  t: TFunction,
  actions: TokenActions,
  chats: Chats,
): Column<Token>[] => [
  column('id', t('shared.id'), 64, ({ id }) => id, { align: 'end', isHiddenAtFirst: true }),
  column(
    'name',
    t('shared.name'),
    150,
    (token) => <MiddleEllipsis text={token.name} />,
    TITLE_COLUMN,
  ),
  column('status', t('shared.status'), 146, (token) => <TokenStateTag token={token} />, {
    onCard: 'aside',
  }),
  column('key', t('shared.key'), 136, (token) => <TokenKey token={token} />),
  column('quota', t('shared.quota'), 164, (token) => <TokenQuota token={token} />),
  column('limits', t('shared.models'), 96, (token) => modelsCell(t, token), {
    isHiddenAtFirst: true,
  }),
  column('expiry', t('shared.expires'), 96, (token) => expiryCell(t, token)),
  column('group', t('ui.groupName'), 90, ({ group }) =>
    group === '' ? t('tokens.userGroup') : <GroupTag name={group} />,
  ),
  column('lastUsed', t('shared.lastUsed'), 98, ({ accessed_time: at }) =>
    at > 0 ? <Time at={at} style="short" /> : t('tokens.neverUsed'),
  ),
  column('created', t('shared.created'), 160, ({ created_time }) => stamp(created_time), {
    isHiddenAtFirst: true,
  }),
  actionsColumn(t, 94, (token) => <TokenMenu token={token} actions={actions} chats={chats} />),
]

const expiryCell = (t: TFunction, { expired_time: at }: Token) =>
  at < 0 ? t('shared.never') : <Time at={at} style="short" mayBeInFuture />

function modelsCell(t: TFunction, token: Token) {
  if (!token.model_limits_enabled) return t('ui.allModels')
  const names = namesOf(token.model_limits)
  return (
    <span title={names.join('\n')}>
      <StatusTag tone="info" isPlain>
        {names.length === 1 ? names[0] : t('pricing.models', { count: names.length })}
      </StatusTag>
    </span>
  )
}

function TokenKey({ token }: { token: Token }) {
  const { t } = useTranslation()
  return (
    <span className="tg-token-key">
      <code>{maskedKey(token.key)}</code>
      <CopyButton text={fullKey(token.key)} label={t('tokens.copyKey', { name: token.name })} />
    </span>
  )
}

function TokenMenu(props: { token: Token; actions: TokenActions; chats: Chats }) {
  const { token, actions, chats } = props
  const history = useHistoryActions(`token:${token.id}`)
  const { t } = useTranslation()
  const items: MenuItem[] = [
    editAction(() => actions.onEdit(token)),
    { title: t('clientSetup.title'), icon: 'zap', perform: () => actions.onUse(token) },
    'divider',
    ...chatEntries(chats, token),
    ...history,
    'divider',
    deleteAction(() => void actions.remove([token])),
  ]
  return (
    <span className="tg-row-actions">
      <RowSwitch
        label={t('shared.enableNamed', { name: token.name })}
        isOn={token.status === 1}
        isDisabled={toggledStatus(token.status) === null}
        onToggle={() => void actions.setEnabled([token], token.status !== 1)}
      />
      <RowMenu items={items} label={t('shared.moreActions', { name: token.name })} />
    </span>
  )
}

const TONES: Readonly<Record<TokenState, Tone>> = {
  enabled: 'good',
  restricted: 'info',
  disabled: 'neutral',
  expired: 'warn',
  exhausted: 'bad',
  unknown: 'neutral',
}

function TokenStateTag(props: { token: Token }) {
  const { t } = useTranslation()
  const state = tokenState(props.token)
  const tag = <StatusTag tone={TONES[state]}>{t(`shared.state.${state}`)}</StatusTag>
  if (state !== 'restricted') return tag
  return <span title={namesOf(props.token.model_limits).join('\n')}>{tag}</span>
}

function TokenQuota({ token }: { token: Token }) {
  const { t } = useTranslation()
  const rule = useMoneyRule()
  const used = BigInt(token.used_quota)
  const exact = (key: 'remaining' | 'used', value: bigint) =>
    t(`tokens.${key}`, { amount: exactQuotaText(value, rule) })
  const isUnlimited = token.unlimited_quota
  const remain = BigInt(token.remain_quota)
  const percent = usedPercent(token)
  const usedTitle = isUnlimited ? exactQuotaText(used, rule) : exact('used', used)
  const title = isUnlimited ? usedTitle : `${exact('remaining', remain)}\n${usedTitle}`
  return (
    <span className="tg-token-quota" title={title}>
      <span className="tg-token-quota-text">
        <span className={isUnlimited ? undefined : 'tg-amount'}>
          {isUnlimited
            ? t('tokens.unlimited')
            : t('tokens.remaining', { amount: quotaText(remain, rule) })}
        </span>
        <span className="tg-amount">{t('tokens.used', { amount: quotaText(used, rule) })}</span>
      </span>
      {!isUnlimited && (
        <progress
          className={percent >= 90 ? 'tg-token-bar tg-token-bar-low' : 'tg-token-bar'}
          aria-label={t('tokens.usedShare', { name: token.name, percent })}
          max={100}
          value={percent}
        />
      )}
    </span>
  )
}
