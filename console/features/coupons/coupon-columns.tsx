import type { TFunction } from 'i18next'
import type { Column } from '#console/ui/data-grid/column.ts'
import { Time } from '#console/ui/elements/time.tsx'
import { quotaOf } from '#console/ui/quota/money.ts'
import { Quota } from '#console/ui/quota/quota.tsx'
import type { Redemption } from '#read-api/contract/redemptions.ts'
import {
  type CouponActions,
  CouponKey,
  CouponMenu,
  CouponName,
  CouponStateTag,
  CouponUser,
  CouponUses,
  CouponValidity,
} from './coupon-cells.tsx'

export function couponColumns(t: TFunction, actions: CouponActions): Column<Redemption>[] {
  const column = (
    id: string,
    title: string,
    width: number,
    rest: Omit<Partial<Column<Redemption>>, 'width'> & Pick<Column<Redemption>, 'cell'>,
  ): Column<Redemption> => ({ id, title, width, ...rest })
  return [
    column('id', t('words.id'), 72, {
      isHiddenAtFirst: true,
      onCard: 'more',
      cell: ({ id }) => <span className="tg-muted">{id}</span>,
    }),
    column('name', t('words.name'), 140, {
      isGrowing: true,
      isPinned: true,
      onCard: 'title',
      cell: (coupon) => <CouponName coupon={coupon} />,
    }),
    column('status', t('words.status'), 124, {
      onCard: 'aside',
      cell: (coupon) => <CouponStateTag coupon={coupon} />,
    }),
    column('key', t('coupons.key'), 144, { cell: (coupon) => <CouponKey coupon={coupon} /> }),
    column('quota', t('words.quota'), 94, {
      align: 'end',
      cell: ({ quota }) => <Quota value={quotaOf(quota)} />,
    }),
    column('uses', t('coupons.uses'), 84, {
      align: 'end',
      cell: (coupon) => <CouponUses coupon={coupon} />,
    }),
    column('user', t('coupons.usedBy'), 92, {
      onCard: 'more',
      cell: (coupon) => <CouponUser coupon={coupon} />,
    }),
    column('redeemed', t('coupons.redeemedAt'), 120, {
      isHiddenAtFirst: true,
      onCard: 'more',
      cell: ({ redeemed_time: at }) => (at > 0 ? <Time at={at} style="short" /> : '—'),
    }),
    column('until', t('coupons.validity'), 180, {
      cell: (coupon) => <CouponValidity coupon={coupon} />,
    }),
    column('created', t('words.created'), 112, {
      isHiddenAtFirst: true,
      onCard: 'more',
      cell: ({ created_time: at }) => <Time at={at} style="short" />,
    }),
    column('actions', t('words.actions'), 100, {
      isPinned: true,
      align: 'end',
      onCard: 'foot',
      cell: (coupon) => <CouponMenu coupon={coupon} actions={actions} />,
    }),
  ]
}
