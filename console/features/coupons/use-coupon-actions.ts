import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import type { TFunction } from 'i18next'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { redemptionsKey } from '#console/api/redemptions.ts'
import type { ListPage } from '#console/api/request.ts'
import { confirm } from '#console/ui/dialogs/confirm.tsx'
import { copyText } from '#console/ui/elements/copy-text.ts'
import { showError, showSuccess } from '#console/ui/messages/toast.ts'
import type { Redemption } from '#read-api/contract/redemptions.ts'
import { saveCsv } from './coupon-csv.ts'

type Coupons = readonly Redemption[]

export type CouponActs = {
  setEnabled: (coupon: Redemption, isEnabled: boolean) => Promise<void>
  remove: (coupon: Redemption) => Promise<void>
  disable: (coupons: Coupons) => Promise<void>
  copyKeys: (coupons: Coupons) => Promise<void>
  download: (coupons: Coupons) => void
  removeDisabled: () => Promise<void>
}

/** Returns the actions on codes as stable functions. New functions would render all rows again. */
export function useCouponActions(): CouponActs {
  const { t } = useTranslation()
  const client = useQueryClient()
  return useMemo(() => {
    const doing = async (act: () => Promise<void>): Promise<void> => {
      try {
        await act()
      } catch (error) {
        showError(error)
      }
      await client.invalidateQueries({ queryKey: redemptionsKey })
    }
    return { setEnabled: switching(t, client, doing), ...removing(t, doing), ...several(t, doing) }
  }, [t, client])
}

/** Runs an action, shows its error, and reloads the list. */
type Doing = (act: () => Promise<void>) => Promise<void>

/** Enables or disables a code. The list changes before the server responds. Offers an undo. */
function switching(t: TFunction, client: QueryClient, doing: Doing): CouponActs['setEnabled'] {
  const show = (id: number, status: number) =>
    client.setQueriesData<ListPage<Redemption>>({ queryKey: redemptionsKey }, (page) =>
      page === undefined ? undefined : { ...page, items: withStatus(page.items, id, status) },
    )
  const setEnabled = async (coupon: Redemption, isEnabled: boolean): Promise<void> => {
    await client.cancelQueries({ queryKey: redemptionsKey })
    show(coupon.id, isEnabled ? 1 : 2)
    await doing(async () => {
      await switchRedemption(coupon.id, isEnabled ? 1 : 2)
      const undo = () => void setEnabled(coupon, !isEnabled)
      const text = t(isEnabled ? 'coupons.enabled' : 'coupons.disabled', { name: coupon.name })
      showSuccess(text, { action: { text: t('words.undo'), onClick: undo } })
    })
  }
  return setEnabled
}

/** Deletes codes permanently after a confirmation. */
function removing(t: TFunction, doing: Doing): Pick<CouponActs, 'remove' | 'removeDisabled'> {
  const ask = (title: string, body: string) =>
    confirm({ title, body, confirmText: t('words.delete'), tone: 'danger' })
  return {
    remove: async (coupon) => {
      const title = t('coupons.deleteTitle', { name: coupon.name })
      if (!(await ask(title, t('coupons.deleteBody')))) return
      await doing(async () => {
        await call('DELETE /api/redemption/:id/', { params: { id: coupon.id } })
        showSuccess(t('coupons.deleted', { count: 1 }))
      })
    },
    removeDisabled: async () => {
      const title = t('coupons.deleteDisabledTitle')
      if (!(await ask(title, t('coupons.deleteDisabledBody')))) return
      await doing(async () => {
        showSuccess(
          t('coupons.deleted', { count: await call('DELETE /api/redemption/delete-disabled') }),
        )
      })
    },
  }
}

/** Actions on the selected codes. If no code is selected, an action only shows a message. */
function several(
  t: TFunction,
  doing: Doing,
): Pick<CouponActs, 'disable' | 'copyKeys' | 'download'> {
  const some = (coupons: Coupons): boolean => {
    if (coupons.length === 0) showError(t('coupons.chooseFirst'))
    return coupons.length > 0
  }
  return {
    disable: async (coupons) => {
      if (!some(coupons)) return
      await doing(async () => {
        const count = await call('PUT /api/redemption/batch-disable', {
          body: { ids: coupons.map(({ id }) => id) },
        })
        showSuccess(t('coupons.disabledMany', { count }))
      })
    },
    copyKeys: async (coupons) => {
      if (!some(coupons)) return
      const text = coupons.map(({ key }) => key).join('\n')
      if (await copyText(text)) showSuccess(t('coupons.keysCopied', { count: coupons.length }))
    },
    download: (coupons) => {
      if (some(coupons)) saveCsv(coupons)
    },
  }
}

const withStatus = (items: Redemption[], id: number, status: number): Redemption[] =>
  items.map((item) => (item.id === id ? { ...item, status } : item))

/** Changes the status of a code. Status 1 enables the code; 2 disables it. */
const switchRedemption = (id: number, status: 1 | 2) =>
  call('PUT /api/redemption/', { query: { status_only: true }, body: { id, status } })
