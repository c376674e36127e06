import type { Translations } from '../translation-types.ts'

export const reconciliation: Translations['reconciliation'] = {
  lead: 'Recompute past charges, correct wrong prices, and compare with the providers’ invoices.',
  tab: {
    recompute: 'Recompute',
    whatIf: 'What-if',
    corrections: 'Corrections',
    invoices: 'Provider invoices',
    margins: 'Margins',
  },
  scope: {
    idInvalid: 'Enter a positive whole number',
  },
  scan: {
    running_one: '{{calls}} call so far…',
    running_other: '{{calls}} calls so far…',
    stopped: 'Stopped before the end of the period, so the figures are incomplete.',
    noCalls: 'No charged calls in this period',
    noCallsLead: 'Choose a longer period, or remove a filter.',
  },
  figure: {
    charged: 'Charged',
    recomputed: 'Recomputed',
    drafted: 'At the draft prices',
    refused: 'Without a price',
    skipped: 'Skipped',
  },
  recompute: {
    title: 'Recompute a period',
    lead:
      'Recomputes the charge of each call from the usage and the price in its event. No ' +
      'difference is expected.',
    run: 'Recompute',
    clean_one: '{{calls}} call recomputed, no difference',
    clean_other: '{{calls}} calls recomputed, no difference',
    different_one: '{{number}} call has a charge that differs from its event',
    different_other: '{{number}} calls have charges that differ from their events',
    skippedHint:
      'Batches are skipped here, because their lines are charged one by one. The verification ' +
      'checks them.',
    first: 'First differences ({{shown}} of {{all}})',
  },
  whatIf: {
    title: 'Draft price list',
    lead: 'Shows what past calls would have cost at other prices. Nothing is changed or charged.',
    model: 'Model to add',
    add: 'Add',
    empty:
      'Add a model to edit its price, or paste a price list as JSON. Without a draft, the ' +
      'current prices apply.',
    unpriced: 'No current price',
    remove: 'Remove {{model}}',
    reset: 'Discard the draft',
    json: 'Paste JSON',
    jsonLabel: 'Prices by option',
    jsonHint:
      'Prices of models are merged into the current list. Null removes an entry. Other ' +
      'options are replaced as a whole.',
    jsonInvalid: 'Enter a JSON object with the names of options',
    decimalInvalid: 'Enter a number of 0 or more, such as 1.25',
    run: 'Compute',
    unchanged: 'At the current prices',
    changes_one: '{{count}} price differs from the current one',
    changes_other: '{{count}} prices differ from the current ones',
    refusedHint_one:
      '{{count}} call has no price in the draft. Its charge counts in full as a difference.',
    refusedHint_other:
      '{{count}} calls have no price in the draft. Their charges count in full as a difference.',
    byGroup: 'By group',
    largest: 'Calls with the largest differences',
    correct: 'Correct',
    correctModel: 'Correct the charges of {{model}}',
  },
  correction: {
    title: 'Corrections of charges',
    create: 'New correction',
    none: 'No corrections yet',
    noneLead:
      'If calls were charged at a wrong price, a correction refunds or charges the ' +
      'difference. The original events stay.',
    newTitle: 'Correct charges',
    newLead:
      'Enter the price that a model should have had in a period. The preview changes nothing.',
    group: 'Group (optional)',
    price: 'Price that should have applied',
    priceHint:
      'An empty field keeps what each call recorded. Ratios apply to calls charged by tokens, ' +
      'dollars to calls with a price per call or second.',
    priceMissing: 'Enter at least one ratio or price',
    modelMissing: 'Enter a model',
    previewLead:
      'Computed at {{time}}. If charges change before you apply it, it must be previewed again.',
    nothing: 'No charge would change',
    nothingLead: 'No call of this model in this period is charged differently at this price.',
    refunded: 'Refunded',
    charged: 'Charged in addition',
    unpaid: 'Cannot be paid',
    unpaidHint:
      'The balances of some users are lower than their additional charges. A balance is charged ' +
      'down to 0; the rest remains unpaid. Quota held for open calls is not charged. Once ' +
      'there is quota again, the same correction can be made again for the rest.',
    plannedText_one: '{{number}} call, {{refunded}} refunded, {{charged}} charged in addition',
    plannedText_other: '{{number}} calls, {{refunded}} refunded, {{charged}} charged in addition',
    byUser: 'Refund or additional charge of each user',
    calls: 'Calls with the largest changes',
    corrected: 'Corrected',
    skippedTitle: 'Calls that cannot be corrected ({{shown}} of {{all}})',
    why: 'Why',
    skip: {
      batch: 'A batch, which is charged line by line',
      'other-kind-of-price': 'It has a different kind of price (per token or per call)',
    },
    apply: 'Apply…',
    applyTitle: 'Apply the correction?',
    applyLead_one:
      '{{number}} charge of {{model}} changes: {{refunded}} are refunded and {{charged}} are ' +
      'charged in addition. It cannot be undone, only corrected again.',
    applyLead_other:
      '{{number}} charges of {{model}} change: {{refunded}} are refunded and {{charged}} are ' +
      'charged in addition. It cannot be undone, only corrected again.',
    applySubmit: 'Apply the correction',
    reasonHint: 'Users see it with each corrected call. It is also in the audit log.',
    applied_one: '{{count}} charge corrected',
    applied_other: '{{count}} charges corrected',
    state: 'State',
    finished: 'Applied',
    unfinished: 'Not finished',
    unfinishedHint:
      'It is running, or it was interrupted. Continuing it corrects each call only once.',
    continue: 'Continue',
    period: 'Period',
    priceColumn: 'Price',
    toAudit: 'View in the audit log',
    failed: 'Accounts that could not be corrected',
    partly: 'Applied in part',
    errorCode: 'Error',
  },
  invoice: {
    title: 'Invoices of providers',
    lead: 'Compare what providers bill with the usage that this site recorded for their channels.',
    none: 'No invoices yet',
    noneLead:
      'Import a provider’s CSV file to find what only one side has, and the margin of each model.',
    import: 'Import',
    importTitle: 'Import an invoice',
    importLead:
      'A CSV file of at most 50 MB. With request IDs, each row is compared with its own call.',
    file: 'CSV file',
    fileMissing: 'Choose a file',
    channelMissing: 'Enter the ID of the channel that the provider bills',
    periodTitle: 'Days that the invoice covers (optional)',
    periodHint:
      'In UTC. If empty, they are the days from the first to the last usage. Enter them if the ' +
      'file also corrects an earlier invoice: rows of other days are then added as corrections.',
    dayMissing: 'Enter both days or none',
    daysReversed: 'Enter a day that is not before the first day',
    columns: 'Columns of the file',
    columnsHint: 'Choose a file, and its columns appear here.',
    column: {
      day: 'Day',
      model: 'Model',
      amount: 'Amount',
      tokens: 'Tokens',
      request_id: 'Request ID',
    },
    noColumn: 'None',
    columnMissing: 'Choose a column',
    sample: 'First rows',
    delimiter: 'Delimiter',
    delimiterName: {
      comma: 'Comma',
      semicolon: 'Semicolon',
      tab: 'Tab',
      pipe: 'Vertical bar',
    },
    decimal: 'Decimal mark',
    decimalName: {
      point: 'Point (1.25)',
      comma: 'Comma (1,25)',
    },
    currency: 'Currency',
    currencyInvalid: 'Enter three capital letters, such as USD',
    dollars: 'Dollars per unit',
    dollarsHint: 'Such as 0.14 for CNY. Not needed for USD.',
    dollarsInvalid: 'Enter a number above 0',
    models: 'Names of models (JSON, optional)',
    modelsHint: 'The provider’s names and the names of this site.',
    modelsInvalid: 'Enter a JSON object with names of models',
    imported_one: 'Imported {{rows}} row',
    imported_other: 'Imported {{rows}} rows',
    at: 'Imported',
    period: 'Days',
    rows: 'Rows',
    duplicates: 'Repeated rows',
    billed: 'Billed',
    cost: 'Expected cost',
    billedTokens: 'Billed tokens',
    tokens: 'Our tokens',
    corrections: 'Rows of other days',
    digest: 'SHA-256 of the file',
    knownIds_one:
      '{{ids}} request ID is also in another invoice of this channel. It may be billed twice.',
    knownIds_other:
      '{{ids}} request IDs are also in other invoices of this channel. They may be billed twice.',
    outOfRange: 'Out of range',
    outOfRangeLead:
      'The amounts in dollars are too large to be summed. Probably the exchange rate was ' +
      'inverted. Delete the invoice, and import the file again.',
    pageTitle: 'Invoice of channel #{{channel}}',
    pageLead:
      '{{first}} to {{last}}. Figures that differ by less than 1% count as matched, because ' +
      'providers round each row.',
    back: 'All invoices',
    notFound: 'The invoice does not exist',
    notFoundLead: 'It may have been deleted. The audit log shows who deleted it.',
    totals: 'Totals',
    marginLead: 'The margin is what the callers were charged, minus what the provider bills.',
    comparison: 'Comparison',
    byDay: 'Day by day',
    any: 'All',
    of: {
      matched: 'Matched',
      different: 'Different',
      only_ours: 'Only ours',
      only_theirs: 'Only theirs',
    },
    byRequest: 'By request ID',
    match: 'Match',
    matchOf: {
      matched: 'Matched',
      different: 'Different',
      other_model: 'Other model',
      cost_unknown: 'Cost unknown',
      other_period: 'Other period',
      failed: 'Not charged by us',
      unknown: 'Unknown to us',
      duplicate: 'Repeated',
      only_ours: 'Only ours',
    },
    matchHint: {
      matched: 'The line and the call agree.',
      different: 'The line has the ID of a call, but another amount or number of tokens.',
      other_model: 'The amounts agree, but the line and the call have different models.',
      cost_unknown: 'The cost of the call is unknown, so its amount cannot be compared.',
      other_period: 'The call ended more than a day outside the days of the invoice.',
      failed: 'The provider bills an attempt that was not charged to any caller.',
      unknown:
        'No attempt of the channel has this ID. The line is compared by day and model below.',
      duplicate: 'The line repeats an earlier one in all columns, so no sum includes it.',
      only_ours: 'The provider named this ID in its answer, but does not bill it.',
    },
    call: 'Our call',
    row: 'Row',
    rowOfSeveral_one: '{{row}} ({{count}} row)',
    rowOfSeveral_other: '{{row}} ({{count}} rows)',
    noRequestsLead: 'No line has this result.',
    matchedById: 'Matched by request ID',
    byIdText_one: '{{rows}} line with {{billed}}',
    byIdText_other: '{{rows}} lines with {{billed}}',
    duplicatesBilled: 'Billed twice',
    restLead: 'Lines and calls without a match by request ID, compared by day and model.',
    noItems: 'Nothing here',
    noItemsLead: 'No day and model has this result.',
    deleteTitle: 'Delete this invoice?',
    deleteBody:
      'The comparison is removed. That the invoice was imported and deleted stays recorded.',
    deleted: 'Invoice deleted',
  },
  margin: {
    title: 'Margins of all channels',
    lead:
      'Charges minus costs, by UTC day. Costs are those of the invoices, and on other days the ' +
      'expected ones. Credits and corrections in invoices count on the day of their row, and ' +
      'corrections of charges on the day on which they were made.',
    byChannel: 'By channel and model',
    firstDay: 'First day',
    lastDay: 'Last day',
    uncosted: 'Cost unknown',
    none: 'Nothing was charged or billed',
    noneLead: 'Choose other days, or import the invoices of the providers.',
    noInvoices: 'No invoice covers these days, so the costs are only expected.',
    outOfRange:
      'An invoice of channel {{channels}} is out of range and not included. Delete it, and ' +
      'import it again with the right exchange rate.',
    overlap:
      'Several invoices bill the same days of channel {{channels}}, so costs may count twice.',
  },
}
