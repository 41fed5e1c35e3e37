-- What a shard of a list by ranges says of itself: entries, changes it has seen, entries that crossed into it or out of
-- it, entries that are crossing, distinct values.
local function look_at(set, counter, state, pending, distinct, parts, style)
  local entries, count = reading_of(set, counter, parts)
  if style == 'dense' then assert_values(entries, distinct, counter) end
  local crossing = redis.call('HLEN', pending)
  if crossing == 0 and is_noted(parts, pending_part) then refuse_lost(counter) end
  local crossings = redis.call('HGET', state, 'crossings')
  if not crossings and is_noted(parts, crossings_part) then refuse_lost(counter) end
  return {
    entries,
    count,
    tonumber(crossings or '0'),
    crossing,
    redis.call('ZCARD', distinct),
  }
end

-- What a style counts before a sort key beside the entries: nothing, what is strictly better, or its distinct values.
local function styled_better(set, distinct, style, columns, score, member)
  local prefix = string.sub(member, 1, columns)
  if style == 'competition' then return count_better(set, score, prefix) end
  if style == 'dense' then return count_better(distinct, score, struct.pack('>d', tonumber(score)) .. prefix) end
  return -1
end
