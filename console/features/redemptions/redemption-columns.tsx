import type { TFunction } from 'i18next'
import { useTranslation } from 'react-i18next'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import {
  actionsColumn,
  type Column,
  column,
  HIDDEN_COLUMN,
  TITLE_COLUMN,
} from '#console/ui/data-grid/column-and-layout.ts'
import { CopyButton } from '#console/ui/elements/copy-to-clipboard.tsx'
import { useHistoryActions } from '#console/ui/elements/history-link.tsx'
import { RowMenu } from '#console/ui/elements/menu.tsx'
import { StatusTag, type Tone } from '#console/ui/elements/status-tag.tsx'
import { Time, useNow } from '#console/ui/elements/time.tsx'
import { stampText } from '#console/ui/elements/time-text.ts'
import { deleteAction, editAction } from '#console/ui/lists/edit-delete-and-undo-actions.ts'
import { RowSwitch } from '#console/ui/lists/row-actions.tsx'
import { quotaOf } from '#console/ui/quota/money.ts'
import { Quota } from '#console/ui/quota/quota.tsx'
import type { Redemption } from '#read-api/contract/redemptions.ts'
import type { RedemptionActions } from './use-redemption-actions.ts'

export const redemptionColumns = (
  t: TFunction,
  actions: RedemptionActions,
): Column<Redemption>[] => [
  column(
    'id',
    t('shared.id'),
    72,
    ({ id }) => <span className="tg-muted">{id}</span>,
    HIDDEN_COLUMN,
  ),
  column(
    'name',
    t('shared.name'),
    140,
    (redemption) => <RedemptionName redemption={redemption} />,
    TITLE_COLUMN,
  ),
  column(
    'status',
    t('shared.status'),
    124,
    (redemption) => <RedemptionStateTag redemption={redemption} />,
    {
      onCard: 'aside',
    },
  ),
  column('key', t('redemptions.key'), 144, (redemption) => (
    <RedemptionKey redemption={redemption} />
  )),
  column('quota', t('shared.quota'), 94, ({ quota }) => <Quota value={quotaOf(quota)} />, {
    align: 'end',
  }),
  column(
    'uses',
    t('redemptions.uses'),
    84,
    (redemption) => <RedemptionUses redemption={redemption} />,
    {
      align: 'end',
    },
  ),
  column(
    'user',
    t('redemptions.usedBy'),
    92,
    (redemption) => <RedemptionUser redemption={redemption} />,
    {
      onCard: 'more',
    },
  ),
  column(
    'redeemed',
    t('redemptions.redeemedAt'),
    120,
    ({ redeemed_time: at }) => timeCell(at),
    HIDDEN_COLUMN,
  ),
  column('until', t('redemptions.validity'), 180, (redemption) => (
    <RedemptionValidity redemption={redemption} />
  )),
  column(
    'created',
    t('shared.created'),
    112,
    ({ created_time: at }) => timeCell(at),
    HIDDEN_COLUMN,
  ),
  actionsColumn(t, 100, (redemption) => (
    <RedemptionMenu redemption={redemption} actions={actions} />
  )),
]

const timeCell = (at: number) => (at > 0 ? <Time at={at} style="short" /> : '—')

type Cell = { redemption: Redemption }

const TONES: Readonly<Record<RedemptionState, Tone>> = {
  unused: 'good',
  gift: 'info',
  disabled: 'neutral',
  used: 'neutral',
  usedUp: 'neutral',
  notYetValid: 'warn',
  expired: 'warn',
}

function RedemptionStateTag({ redemption }: Cell) {
  const { t } = useTranslation()
  const state = redemptionState(redemption, useNow())
  return <StatusTag tone={TONES[state]}>{t(`shared.state.${state}`)}</StatusTag>
}

function RedemptionName({ redemption }: Cell) {
  const { t } = useTranslation()
  return (
    <span className="tg-redemption-name">
      <span title={redemption.name}>{redemption.name}</span>
      {redemption.is_gift && (
        <StatusTag tone="info" isPlain>
          {t('redemptions.gift')}
        </StatusTag>
      )}
    </span>
  )
}

function RedemptionKey({ redemption: { key, key_hint, name } }: Cell) {
  const { t } = useTranslation()
  const displayedKey = key.length > 12 ? `${key.slice(0, 4)}…${key_hint}` : key
  return (
    <span className="tg-redemption-key">
      <code>{displayedKey}</code>
      {key !== '' && <CopyButton text={key} label={t('redemptions.copyKey', { name })} />}
    </span>
  )
}

function RedemptionUses({ redemption }: Cell) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const max = redemption.max_uses < 0 ? '∞' : number.format(redemption.max_uses)
  const maxText = redemption.max_uses < 0 ? t('redemptions.unlimited') : max
  const used = number.format(redemption.used_count)
  return (
    <span title={t('redemptions.usesOf', { count: redemption.used_count, used, max: maxText })}>
      {used} / {max}
    </span>
  )
}

function RedemptionUser({ redemption: { used_user_id, used_username } }: Cell) {
  const { t } = useTranslation()
  if (used_user_id === 0) return <span className="tg-muted">{t('redemptions.nobody')}</span>
  return <span title={`#${used_user_id}`}>{used_username || `#${used_user_id}`}</span>
}

function RedemptionValidity({ redemption: { valid_from, valid_until } }: Cell) {
  const { t } = useTranslation()
  const now = useNow()
  if (valid_from === 0 && valid_until === 0) {
    return <span className="tg-muted">{t('redemptions.always')}</span>
  }
  const isNotYetValid = valid_from > now || valid_until === 0
  const word = isNotYetValid ? 'from' : valid_until > now ? 'until' : 'expiredAt'
  const range = [valid_from, valid_until].map((at) => (at === 0 ? '' : stampText(at)))
  return (
    <span className="tg-redemption-validity" title={range.join(' – ').trim()}>
      {t(`redemptions.${word}`)}{' '}
      <Time at={isNotYetValid ? valid_from : valid_until} style="short-stamp" mayBeInFuture />
    </span>
  )
}

function RedemptionMenu({ redemption, actions }: Cell & { actions: RedemptionActions }) {
  const { t } = useTranslation()
  const edit = editAction(() => actions.onEdit(redemption))
  const remove = deleteAction(() => void actions.remove(redemption))
  const history = useHistoryActions(`redemption:${redemption.id}`)
  const isAlone = redemption.status !== 1 && history.length === 0
  const { name } = redemption
  return (
    <span className="tg-row-actions">
      <RowSwitch
        label={t('redemptions.toggle', { name })}
        isOn={redemption.status === 1}
        isDisabled={redemption.status === 3}
        onToggle={() => void actions.setEnabled(redemption, redemption.status !== 1)}
      />
      <RowMenu
        items={[
          ...(redemption.status === 1 ? [edit] : []),
          ...history,
          ...(isAlone ? [] : (['divider'] as const)),
          remove,
        ]}
        label={t('shared.moreActions', { name })}
      />
    </span>
  )
}

type RedemptionState =
  | 'unused'
  | 'gift'
  | 'disabled'
  | 'used'
  | 'usedUp'
  | 'notYetValid'
  | 'expired'

type StateFields = Pick<
  Redemption,
  'status' | 'is_gift' | 'max_uses' | 'used_count' | 'valid_from' | 'valid_until'
>

/**
 * Reports whether a gift code has been used the maximum number of times. The stored status of such
 * a code is still 1 (enabled).
 */
const isUsedUp = ({ is_gift, max_uses, used_count }: StateFields): boolean =>
  is_gift && max_uses >= 0 && used_count >= max_uses

export const isSpent = (redemption: StateFields): boolean =>
  redemption.status !== 1 || isUsedUp(redemption)

function redemptionState(redemption: StateFields, now: number): RedemptionState {
  if (redemption.status === 3) return 'used'
  if (redemption.status === 2) return 'disabled'
  if (isUsedUp(redemption)) return 'usedUp'
  if (redemption.valid_until > 0 && redemption.valid_until <= now) return 'expired'
  if (redemption.valid_from > now) return 'notYetValid'
  return redemption.is_gift && redemption.used_count > 0 ? 'gift' : 'unused'
}
