import type { TFunction } from 'i18next'
import { useTranslation } from 'react-i18next'
import { useNumberFormat } from '#console/i18n/use-locale.ts'
import { actionsColumn, type Column, column, HIDDEN, TITLE } from '#console/ui/data-grid/column.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { CopyButton } from '#console/ui/elements/copy-button.tsx'
import { MenuButton } from '#console/ui/elements/menu.tsx'
import { StatusTag, type Tone } from '#console/ui/elements/status-tag.tsx'
import { Time, useNow } from '#console/ui/elements/time.tsx'
import { stampText } from '#console/ui/elements/time-text.ts'
import { deleteEntry, editEntry } from '#console/ui/lists/list-actions.ts'
import { RowSwitch } from '#console/ui/lists/row-switch.tsx'
import { quotaOf } from '#console/ui/quota/money.ts'
import { Quota } from '#console/ui/quota/quota.tsx'
import type { Redemption } from '#read-api/contract/redemptions.ts'
import { type CouponState, couponState } from './coupon-state.ts'
import type { CouponActions } from './use-coupon-actions.ts'

export const couponColumns = (t: TFunction, actions: CouponActions): Column<Redemption>[] => [
  column('id', t('words.id'), 72, ({ id }) => <span className="tg-muted">{id}</span>, HIDDEN),
  column('name', t('words.name'), 140, (coupon) => <CouponName coupon={coupon} />, TITLE),
  column('status', t('words.status'), 124, (coupon) => <CouponStateTag coupon={coupon} />, {
    onCard: 'aside',
  }),
  column('key', t('coupons.key'), 144, (coupon) => <CouponKey coupon={coupon} />),
  column('quota', t('words.quota'), 94, ({ quota }) => <Quota value={quotaOf(quota)} />, {
    align: 'end',
  }),
  column('uses', t('coupons.uses'), 84, (coupon) => <CouponUses coupon={coupon} />, {
    align: 'end',
  }),
  column('user', t('coupons.usedBy'), 92, (coupon) => <CouponUser coupon={coupon} />, {
    onCard: 'more',
  }),
  column('redeemed', t('coupons.redeemedAt'), 120, ({ redeemed_time: at }) => timeCell(at), HIDDEN),
  column('until', t('coupons.validity'), 180, (coupon) => <CouponValidity coupon={coupon} />),
  column('created', t('words.created'), 112, ({ created_time: at }) => timeCell(at), HIDDEN),
  actionsColumn(t, 100, (coupon) => <CouponMenu coupon={coupon} actions={actions} />),
]

const timeCell = (at: number) => (at > 0 ? <Time at={at} style="short" /> : '—')

type Cell = { coupon: Redemption }

const TONES: Readonly<Record<CouponState, Tone>> = {
  unused: 'good',
  gift: 'info',
  disabled: 'neutral',
  used: 'neutral',
  usedUp: 'neutral',
  notYetValid: 'warn',
  expired: 'warn',
}

function CouponStateTag({ coupon }: Cell) {
  const { t } = useTranslation()
  const state = couponState(coupon, useNow())
  return <StatusTag tone={TONES[state]}>{t(`coupons.state.${state}`)}</StatusTag>
}

function CouponName({ coupon }: Cell) {
  const { t } = useTranslation()
  return (
    <span className="tg-coupon-name">
      <span title={coupon.name}>{coupon.name}</span>
      {coupon.is_gift && (
        <StatusTag tone="info" isPlain>
          {t('coupons.gift')}
        </StatusTag>
      )}
    </span>
  )
}

/** The masked key. The copy button copies the complete key. */
function CouponKey({ coupon: { key, key_hint, name } }: Cell) {
  const { t } = useTranslation()
  const shown = key.length > 12 ? `${key.slice(0, 4)}…${key_hint}` : key
  return (
    <span className="tg-coupon-key">
      <code>{shown}</code>
      {key !== '' && <CopyButton text={key} label={t('coupons.copyKey', { name })} />}
    </span>
  )
}

function CouponUses({ coupon }: Cell) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const most = coupon.max_uses < 0 ? '∞' : number.format(coupon.max_uses)
  const words = coupon.max_uses < 0 ? t('coupons.unlimited') : most
  const used = number.format(coupon.used_count)
  return (
    <span title={t('coupons.usesOf', { count: coupon.used_count, used, most: words })}>
      {used} / {most}
    </span>
  )
}

function CouponUser({ coupon: { used_user_id, used_username } }: Cell) {
  const { t } = useTranslation()
  if (used_user_id === 0) return <span className="tg-muted">{t('coupons.nobody')}</span>
  return <span title={`#${used_user_id}`}>{used_username || `#${used_user_id}`}</span>
}

/** The start of the validity if it is in the future, else the expiry. */
function CouponValidity({ coupon: { valid_from, valid_until } }: Cell) {
  const { t } = useTranslation()
  const now = useNow()
  if (valid_from === 0 && valid_until === 0) {
    return <span className="tg-muted">{t('coupons.always')}</span>
  }
  const isAhead = valid_from > now || valid_until === 0
  const word = isAhead ? 'from' : valid_until > now ? 'until' : 'expiredAt'
  const range = [valid_from, valid_until].map((at) => (at === 0 ? '' : stampText(at)))
  return (
    <span className="tg-coupon-validity" title={range.join(' – ').trim()}>
      {t(`coupons.${word}`)}{' '}
      <Time at={isAhead ? valid_from : valid_until} style="short-stamp" canLieAhead />
    </span>
  )
}

function CouponMenu({ coupon, actions }: Cell & { actions: CouponActions }) {
  const { t } = useTranslation()
  const edit = editEntry(() => actions.onEdit(coupon))
  const remove = deleteEntry(() => void actions.remove(coupon))
  const { name } = coupon
  return (
    <span className="tg-row-actions">
      <RowSwitch
        label={t('coupons.toggle', { name })}
        isOn={coupon.status === 1}
        isDisabled={coupon.status === 3}
        onToggle={() => void actions.setEnabled(coupon, coupon.status !== 1)}
      />
      <MenuButton items={coupon.status === 1 ? [edit, 'divider', remove] : [remove]}>
        <Button tone="quiet" size="small" icon="more" label={t('words.moreFor', { name })} />
      </MenuButton>
    </span>
  )
}
