import { useQuery } from '@tanstack/react-query'
import { type RefObject, useEffect, useMemo, useRef, useState } from 'react'
import { priceUnitsQuery } from '#console/api/options.ts'
import { type ShownUnit, shownUnit } from '#console/ui/quota/price-unit.ts'
import { isPricePerSecond } from '#read-api/contract/price-unit.ts'
import { readJsonMap } from './json-map.ts'
import type { SettingsForm } from './use-settings-form.ts'

/**
 * Returns the output limit that applies to a model without an output limit in the price table.
 * `isBuiltIn` is false for the default limit of all models. `tokens` is null if the default limit
 * is invalid.
 */
export type OutputLimitFallback = (model: string) => {
  readonly tokens: number | null
  readonly isBuiltIn: boolean
}

/**
 * Returns a function that finds the output limit of a model without one in the price table. This is
 * the built-in limit of the model or, without a built-in limit, the default limit that is entered
 * in the form.
 */
export function useOutputLimitFallback(form: SettingsForm): OutputLimitFallback {
  const builtInText = form.option('MaxOutputTokens')?.default ?? '{}'
  const defaultText = form.value('DefaultMaxOutputTokens').trim()
  return useMemo(() => {
    const builtIn = readJsonMap(builtInText) ?? new Map<string, string>()
    const fallback = /^\d{1,9}$/.test(defaultText) ? Number(defaultText) : null
    return (model) => {
      const builtInLimit = builtIn.get(model)
      return builtInLimit === undefined
        ? { tokens: fallback, isBuiltIn: false }
        : { tokens: Number(builtInLimit), isBuiltIn: true }
    }
  }, [builtInText, defaultText])
}

/** Returns the unit of the fixed price of a model. */
export type UnitOfPrice = (model: string) => ShownUnit

/**
 * Returns a function that finds the unit of a model's price. The channels of the model decide it.
 * The unit of a model without a channel follows from its name.
 */
export function useUnitOfPrice(form: SettingsForm): UnitOfPrice {
  const option = form.option('ModelPrice')
  const { data } = useQuery(priceUnitsQuery)
  return useMemo(() => {
    const units = new Map(Object.entries(data ?? {}))
    return (model) => {
      const ofName = option !== undefined && isPricePerSecond(option, model) ? 'second' : 'call'
      return shownUnit(units.get(model) ?? [ofName])
    }
  }, [option, data])
}

type PagedRows = {
  /** The element that contains the rows of the shown page. */
  readonly rowsElement: RefObject<HTMLDivElement | null>
  readonly page: number
  readonly setPage: (page: number) => void
}

/**
 * Opens the page with the row whose key is in `target`, and scrolls to this row. A new `target`
 * object scrolls again, even if its key is the same. `rowKeys` contains the keys of all rows in
 * their order.
 */
export function useScrollToRow(
  target: { readonly key: string } | null,
  rowKeys: readonly string[],
  pageSize: number,
): PagedRows {
  const rowsElement = useRef<HTMLDivElement>(null)
  const [page, setPage] = useState(0)
  const lastTarget = useRef(target)
  const last = Math.max(0, Math.ceil(rowKeys.length / pageSize) - 1)
  const shown = Math.min(page, last)
  useEffect(() => {
    if (target === null || lastTarget.current === target) return
    const index = rowKeys.indexOf(target.key)
    if (index < 0) return
    const targetPage = Math.floor(index / pageSize)
    if (targetPage !== shown) return setPage(targetPage)
    lastTarget.current = target
    rowsElement.current?.querySelector('.tg-grid-row-fresh')?.scrollIntoView({ block: 'nearest' })
  }, [target, rowKeys, pageSize, shown])
  return { rowsElement, page: shown, setPage }
}
