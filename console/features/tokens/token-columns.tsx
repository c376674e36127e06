import type { TFunction } from 'i18next'
import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { translate } from '#console/i18n/i18n.ts'
import type { Column } from '#console/ui/data-grid/column.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { CopyButton } from '#console/ui/elements/copy-button.tsx'
import { fullKey } from '#console/ui/elements/full-key.ts'
import { GroupTag } from '#console/ui/elements/group-tag.tsx'
import { MenuButton, type MenuEntry } from '#console/ui/elements/menu.tsx'
import { MiddleText } from '#console/ui/elements/middle-text.tsx'
import { StatusTag, type Tone } from '#console/ui/elements/status-tag.tsx'
import { Time } from '#console/ui/elements/time.tsx'
import { RowSwitch } from '#console/ui/lists/row-switch.tsx'
import { showError } from '#console/ui/messages/toast.ts'
import { type ChatLink, chatAddress, chatWay } from '#console/ui/state/chat-links.ts'
import type { Token } from '#read-api/contract/tokens.ts'
import { namesOf } from './token-draft.ts'
import { maskedKey } from './token-key.ts'
import { TokenQuota } from './token-quota.tsx'
import { type TokenState, toggledStatus, tokenState } from './token-status.ts'

/** Menu entries that open chat clients with a token. Without clients, one entry shows an error. */
function chatEntries(
  links: readonly ChatLink[],
  site: string,
  token: Pick<Token, 'key'>,
): MenuEntry[] {
  if (links.length === 0) {
    const onChoose = () => showError(translate('ui.noChatLinks'))
    return [{ id: 'chat', text: translate('ui.chat'), icon: 'external', onChoose }]
  }
  return links.map(({ name, template }, index) => ({
    id: `chat-${index}`,
    text: translate('tokens.chatIn', { name }),
    icon: 'external',
    onChoose: () => openChat(chatAddress(template, site, fullKey(token.key))),
  }))
}

/** NOTE: The chat client receives the key, but no referrer and no access to this window. */
function openChat(address: string | null): void {
  const isWrong = chatWay(address, window.location.origin) === 'none'
  if (address === null || isWrong) showError(translate('ui.chatLinkWrong'))
  else window.open(address, '_blank', 'noopener,noreferrer')
}

type TokenActions = {
  onToggle: (token: Token) => void
  onEdit: (token: Token) => void
  onSnippets: (token: Token) => void
  onDelete: (token: Token) => void
  chat: { links: readonly ChatLink[]; site: string }
}

const ID_COLUMN: Partial<Column<Token>> = {
  width: 64,
  align: 'end',
  isHiddenAtFirst: true,
  cell: ({ id }) => id,
}

export function tokenColumns(t: TFunction, actions: TokenActions): Column<Token>[] {
  const column = (id: string, title: string, rest: Partial<Column<Token>>): Column<Token> => ({
    id,
    title,
    width: 130,
    cell: () => null,
    ...rest,
  })
  return [
    column('id', t('words.id'), ID_COLUMN),
    column('name', t('words.name'), {
      width: 150,
      isGrowing: true,
      isPinned: true,
      onCard: 'title',
      cell: (token) => <MiddleText text={token.name} />,
    }),
    column('status', t('words.status'), {
      width: 146,
      onCard: 'aside',
      cell: (token) => <TokenStateTag token={token} />,
    }),
    column('key', t('words.key'), { width: 136, cell: (token) => <TokenKey token={token} /> }),
    column('quota', t('words.quota'), {
      width: 164,
      cell: (token) => <TokenQuota token={token} />,
    }),
    column('limits', t('tokens.limits'), {
      width: 96,
      isHiddenAtFirst: true,
      cell: (token) => modelsCell(t, token),
    }),
    column('expiry', t('words.expires'), { width: 96, cell: (token) => expiryCell(t, token) }),
    column('group', t('ui.groupName'), {
      width: 90,
      cell: ({ group }) => (group === '' ? t('tokens.userGroup') : <GroupTag name={group} />),
    }),
    column('lastUsed', t('tokens.lastUsed'), {
      width: 98,
      cell: (token) =>
        token.accessed_time > 0 ? (
          <Time at={token.accessed_time} style="short" />
        ) : (
          t('tokens.neverUsed')
        ),
    }),
    column('created', t('words.created'), {
      width: 160,
      isHiddenAtFirst: true,
      cell: (token) => <Time at={token.created_time} style="stamp" />,
    }),
    column('actions', t('words.actions'), {
      width: 94,
      isPinned: true,
      align: 'end',
      onCard: 'foot',
      cell: (token) => <TokenMenu token={token} actions={actions} />,
    }),
  ]
}

const expiryCell = (t: TFunction, { expired_time: at }: Token) =>
  at < 0 ? t('words.never') : <Time at={at} style="short" canLieAhead />

function modelsCell(t: TFunction, token: Token) {
  if (!token.model_limits_enabled) return t('ui.allModels')
  const names = namesOf(token.model_limits)
  return (
    <span title={names.join('\n')}>
      <StatusTag tone="info" isPlain>
        {names.length === 1 ? names[0] : t('tokens.modelsCount', { count: names.length })}
      </StatusTag>
    </span>
  )
}

function TokenKey({ token }: { token: Token }): ReactElement {
  const { t } = useTranslation()
  return (
    <span className="tg-token-key">
      <code>{maskedKey(token.key)}</code>
      <CopyButton text={fullKey(token.key)} label={t('tokens.copyKey', { name: token.name })} />
    </span>
  )
}

function TokenMenu({ token, actions }: { token: Token; actions: TokenActions }): ReactElement {
  const { t } = useTranslation()
  const items: MenuEntry[] = [
    { id: 'edit', text: t('ui.editRow'), icon: 'edit', onChoose: () => actions.onEdit(token) },
    {
      id: 'code',
      text: t('tokens.snippets'),
      icon: 'zap',
      onChoose: () => actions.onSnippets(token),
    },
    'divider',
    ...chatEntries(actions.chat.links, actions.chat.site, token),
    'divider',
    {
      id: 'delete',
      text: t('words.delete'),
      icon: 'trash',
      tone: 'danger',
      onChoose: () => actions.onDelete(token),
    },
  ]
  return (
    <span className="tg-row-actions">
      <RowSwitch
        label={t('words.enableNamed', { name: token.name })}
        isOn={token.status === 1}
        isDisabled={toggledStatus(token.status) === null}
        onToggle={() => actions.onToggle(token)}
      />
      <MenuButton items={items}>
        <Button
          tone="quiet"
          size="small"
          icon="more"
          label={t('words.moreActions', { name: token.name })}
        />
      </MenuButton>
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

function TokenStateTag(props: { token: Token }): ReactElement {
  const { t } = useTranslation()
  const state = tokenState(props.token)
  const tag = <StatusTag tone={TONES[state]}>{t(`tokens.state.${state}`)}</StatusTag>
  if (state !== 'restricted') return tag
  return <span title={namesOf(props.token.model_limits).join('\n')}>{tag}</span>
}
