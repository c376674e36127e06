import type { TFunction } from 'i18next'
import { actionsColumn, type Column, column, HIDDEN, TITLE } from '#console/ui/data-grid/column.ts'
import { Time } from '#console/ui/elements/time.tsx'
import { quotaOf } from '#console/ui/quota/money.ts'
import { Quota } from '#console/ui/quota/quota.tsx'
import type { Redemption } from '#read-api/contract/redemptions.ts'
import {
  CouponKey,
  CouponMenu,
  CouponName,
  CouponStateTag,
  CouponUser,
  CouponUses,
  CouponValidity,
} from './coupon-cells.tsx'
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
