// Generated from /openapi.json by npm run generate.

export interface paths {
    "/v1/boards/{board}/scores": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Submit a score */
        post: operations["submitScore"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/scores": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Submit up to 1,000 scores */
        post: operations["submitScores"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/boards/{board}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a definition */
        get: operations["getBoard"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/boards/{board}/players/{player}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a player with rank, percentile and neighbours */
        get: operations["getPlayer"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/boards/{board}/entries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a list */
        get: operations["getEntries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/boards/{board}/rank": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Ask which rank a score would get */
        get: operations["getRankOfScore"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/boards/{board}/lookups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Read up to 500 players at once */
        post: operations["lookupPlayers"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/boards/{board}/friends/{player}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Rank a player and its friends among themselves */
        get: operations["getFriendsBoard"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/boards/{board}/follows/{player}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Rank a player and those it follows among themselves */
        get: operations["getFollowsBoard"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/boards/{board}/circles/{circle}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Rank a named circle among themselves */
        get: operations["getCircleBoard"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/boards/{board}/guilds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Rank guilds by their members' scores */
        get: operations["getGuilds"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/boards/{board}/windows": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the windows of a board */
        get: operations["getWindows"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Problem: {
            /** @description A URN that ends in the code. */
            type: string;
            /** @description What this code means, always the same. */
            title: string;
            status: number;
            /** @description What was wrong with this request, and what to do. */
            detail: string;
            /** @description The path that was asked for; for an item of a batch with its place, as `#/submissions/3`. */
            instance: string;
            /**
             * @description Stable: what programs look at.
             * @enum {string}
             */
            code: "VALIDATION_FAILED" | "MALFORMED_JSON" | "UNAUTHENTICATED" | "FORBIDDEN" | "PLAYER_BANNED" | "NOT_FOUND" | "BOARD_NOT_FOUND" | "ENTRY_NOT_FOUND" | "WINDOW_NOT_FOUND" | "SCOPE_NOT_FOUND" | "PLAYER_NOT_FOUND" | "GUILD_NOT_FOUND" | "CIRCLE_NOT_FOUND" | "DEAD_LETTER_NOT_FOUND" | "API_KEY_NOT_FOUND" | "POOL_NOT_FOUND" | "GAME_NOT_FOUND" | "RUN_NOT_FOUND" | "TEMPLATE_NOT_FOUND" | "FLAG_NOT_FOUND" | "RATING_NOT_FOUND" | "METHOD_NOT_ALLOWED" | "REQUEST_TIMEOUT" | "WINDOW_CLOSED" | "WINDOW_NOT_SETTLED" | "SUBMISSION_ID_REUSED" | "BOARD_NOT_EMPTY" | "API_KEY_FIXED" | "LAST_ADMIN_KEY" | "GUILD_NOT_EMPTY" | "LIMIT_REACHED" | "GAME_ID_REUSED" | "GAME_VOIDED" | "PATCH_IN_USE" | "POOL_HAS_GAMES" | "PERIOD_CLOSED" | "RECOMPUTE_TOO_LARGE" | "FLAG_DECIDED" | "BOARD_IN_USE" | "BOARD_NOT_OF_TEMPLATE" | "EDITION_NOT_FOUND" | "SNAPSHOT_GONE" | "RUN_GONE" | "CURSOR_EXPIRED" | "SUBSCRIPTION_EXISTS" | "PRECONDITION_FAILED" | "PAYLOAD_TOO_LARGE" | "URI_TOO_LONG" | "UNSUPPORTED_MEDIA_TYPE" | "NOT_SUPPORTED" | "LANES_NOT_RAISED" | "NOT_A_PLAYER" | "RANK_STYLE_NOT_KEPT" | "RUNS_NOT_KEPT" | "HISTORY_NOT_KEPT" | "RUN_NOT_VOIDABLE" | "SCORE_OUT_OF_BOUNDS" | "OPERATOR_REFUSED" | "COLUMN_OUT_OF_BOUNDS" | "COLUMNS_MISMATCH" | "BOUNDARIES_IMPOSSIBLE" | "METADATA_TOO_LARGE" | "ACHIEVED_AT_IN_FUTURE" | "ACHIEVED_AT_REFUSED" | "WINDOW_UNENDING" | "WINDOW_MISMATCH" | "ATTEMPTS_EXHAUSTED" | "SUBMISSION_REJECTED" | "PATCH_UNKNOWN" | "DECAY_NEEDS_POSITIVE_SCORES" | "RULE_UNKNOWN" | "ALGORITHM_UNKNOWN" | "PLAYERS_NOT_SUPPORTED" | "GAME_TOO_LARGE" | "BOARD_IS_FED" | "BOARD_NOT_FED" | "UPGRADE_REQUIRED" | "HEADERS_TOO_LARGE" | "RATE_LIMITED" | "SUBSCRIPTION_LIMIT" | "TOO_MANY_MESSAGES" | "INTERNAL" | "ALGORITHM_MISSING" | "OVERLOADED" | "IDENTITY_UNAVAILABLE" | "LEDGER_UNAVAILABLE" | "OUTBOX_FULL" | "SETTLEMENT_FAILED" | "PROJECTION_UNAVAILABLE" | "PROJECTION_BEHIND";
            errors?: {
                /** @description A JSON pointer into the body (into its item of a batch), `?name` for a query parameter, `{name}` for a part of the path. */
                pointer: string;
                message: string;
            }[];
            /** @description NOT_SUPPORTED: the option or parameter that is not built. */
            option?: string;
            /** @description LIMIT_REACHED: the player whose list is full. */
            player?: string;
            /** @description ENTRY_NOT_FOUND: how many entries the list has. */
            total?: number;
            /** @description ENTRY_NOT_FOUND: the last entry, of a full board the last that is kept; null where there is none. */
            scoreToBeat?: {
                /** @description 1-based. */
                rank: number;
                /** @description An IEEE double, bit for bit as it was submitted. */
                score: number;
                columns: {
                    [key: string]: number;
                };
            } | null;
            /** @description PLAYER_BANNED, and ENTRY_NOT_FOUND: its ban, to the player itself; to moderators what is in force. */
            sanction?: {
                /** @enum {string} */
                kind: "ban" | "hide" | "shadow";
                /** Format: date-time */
                until: string | null;
                publicReason: string | null;
            };
            scoreMin?: number | null;
            scoreMax?: number | null;
            /** @description COLUMN_OUT_OF_BOUNDS: which column it is. */
            column?: string;
            min?: number | null;
            max?: number | null;
            missing?: string[];
            unknown?: string[];
            differing?: string[];
            /** @description SUBMISSION_REJECTED: the check that said no. */
            check?: string;
            /** @description FLAG_DECIDED: what was decided. */
            decision?: string;
            /** @description RATE_LIMITED: which limit it was: key, player, address, failed-identity, probe or sockets. */
            limit?: string;
            known?: string[];
            /** @description RATING_NOT_FOUND: what the first game of the player begins with. */
            initial?: {
                rating: number;
                deviation: number | null;
                volatility: number | null;
            };
            /** @description When the same request may succeed. */
            retryAfterSeconds?: number;
            /** @description As in the header X-Request-Id: what to ask the operators with. Absent in items of a batch. */
            requestId?: string;
        };
        WindowToClose: {
            /** @description A full id such as `season:s1`, or the name of a running window: `daily`. */
            window: string;
        };
        ShardsToBound: {
            /** @description How many shards there are to be. */
            shards: number;
            /** @description The window whose entries are looked at. Default: alltime, or the first of the board. */
            window?: string;
        };
        BoundariesProposal: {
            board: string;
            window: string;
            /** @description How many entries were looked at. */
            total: number;
            sharding: {
                /** @enum {string} */
                by: "range";
                /** @description Scores, ascending, between the shards of the global scope. A score that is a boundary itself lies in the worse of its two shards. */
                boundaries: number[];
            };
            entries: number[];
            /** @description Equal scores allow no more shards than these. */
            isLimitedByTies: boolean;
            dryRun: boolean;
        };
        ClosedWindow: {
            board: string;
            window: {
                id: string;
                /** Format: date-time */
                startsAt: string | null;
                /** Format: date-time */
                endsAt: string | null;
            };
            dryRun: boolean;
            scopes: {
                /** @description `global`, `region:EU`; `guilds` for the list whose entries are guilds. */
                scope: string;
                /** @description Entries of the list. */
                total: number;
                top: {
                    /** @description 1-based, in the board's style. */
                    rank: number;
                    playerId: string;
                    /** @description With `entriesPer: run`: the id of the submission. With the player's it names the row. */
                    entryId?: string;
                    /** @description An IEEE double, bit for bit as it was submitted. */
                    score: number;
                }[];
            }[];
        };
        BoardDefinition: {
            id?: string | null;
            /** @description The template that the board is of: read alone, it may only be put as it is. */
            template?: string | null;
            title?: string | null;
            /** @enum {string} */
            order: "asc" | "desc";
            /** @enum {string} */
            operator: "best" | "latest" | "sum";
            /** @enum {string|null} */
            tiebreak?: "earliest" | "latest" | "none" | null;
            columns?: {
                name: string;
                /** @enum {string} */
                order: "asc" | "desc";
            }[] | null;
            /** @enum {string|null} */
            rankStyle?: "ordinal" | "competition" | "dense" | null;
            /** @description Whether dense ranks are kept; a rankStyle of dense keeps them, too. */
            dense?: boolean | null;
            windows?: (("alltime" | "daily" | "weekly" | "monthly") | {
                /** @description The window is `season:<this>`. */
                season: string;
                /**
                 * Format: timestamp
                 * @description RFC 3339.
                 */
                startsAt: string;
                /**
                 * Format: timestamp
                 * @description RFC 3339. May be moved until the season is over.
                 */
                endsAt: string;
                /**
                 * Format: timestamp
                 * @description From then to the end everyone but admins sees the standings of then.
                 */
                freezeAt?: string | null;
            } | {
                /** @description `24h`: the last 24 hours. */
                rolling: string;
            } | {
                /** @description Minute, hour, day of month, month, day of week: windows last from firing to firing. */
                cron: string;
            })[] | null;
            /** @description IANA name of the zone whose days the windows follow. */
            timeZone?: string | null;
            scopes?: (("global" | "region" | "guild") | {
                attribute: string;
            })[] | null;
            sharding?: {
                /** @enum {string} */
                by: "hash";
                /** @description Of the global scope. */
                count: number;
            } | {
                /** @enum {string} */
                by: "range";
                /** @description Scores, ascending, between the shards of the global scope. A score that is a boundary itself lies in the worse of its two shards. */
                boundaries: number[];
            } | null;
            limits?: {
                scoreMin?: number | null;
                scoreMax?: number | null;
                /** @description How many entries a running window keeps: the best; up to 5 % more between two trims. */
                entriesMax?: number | null;
                /** @description How many runs of a player count in each window. */
                attemptsMax?: number | null;
                /** @description An entry goes from the running windows when no run renews it for so long; at least 60. */
                entryLifetimeSeconds?: number | null;
                /** @description By the name of a column: the least and the greatest value that a run may have there. */
                columns?: {
                    [key: string]: {
                        min?: number | null;
                        max?: number | null;
                    } | null;
                } | null;
            } | null;
            /** @description How late a submission may still enter an ended window. */
            graceSeconds?: number | null;
            /** @description How long an ended window stays in Redis; its standings stay in PostgreSQL. */
            keepEndedSeconds?: number | null;
            snapshot?: {
                /** @description How many rows of each list are kept. */
                top?: number | null;
                /** @description null: none is kept. */
                keepEveryMinutes?: number | null;
                keepDays?: number | null;
            } | null;
            retention?: {
                /** @description null: final standings are kept for ever. */
                standingsDays?: number | null;
            } | null;
            push?: {
                intervalMs?: number | null;
                top?: number | null;
            } | null;
            history?: {
                /** @description One point of a player and window for each stretch of so many minutes. */
                everyMinutes?: number | null;
                /** @description How long points are kept. */
                keepDays?: number | null;
            } | null;
            /** @description Whether rows say how many places a player moved since yesterday. */
            change?: boolean | null;
            guildAggregate?: {
                /** @enum {string|null} */
                kind?: "sum" | "average" | "top" | null;
                /** @description With `top`: of how many of the best. */
                k?: number | null;
                /** @enum {string|null} */
                onLeave?: "keep" | "takeAway" | null;
            } | null;
            format?: {
                /** @enum {string|null} */
                kind?: "number" | "time" | "currency" | null;
                decimals?: number | null;
                unit?: string | null;
            } | null;
            /** @enum {string|null} */
            submitters?: "servers" | "players" | null;
            /** @description Of sum boards: with `set` a submission may say that its score is the total from then on. */
            submissionOperators?: ("sum" | "set")[] | null;
            clientTime?: boolean | null;
            /** @description What is examined after runs were accepted, and raises flags; null: nothing. Needs `runs`. */
            integrity?: {
                /** @description Flags a run that is far better than the runs of its player before it. Not on sum boards. */
                jump?: {
                    /** @description By how many units a run must be better than the median of the runs before it. */
                    factor?: number | null;
                    /** @description With fewer counted runs before it nothing is flagged. */
                    runsMin?: number | null;
                } | null;
                /** @description Flags a player whose runs come too fast. */
                rate?: {
                    /** @description How many runs of a player within `seconds` raise no flag; the next one does. */
                    runs?: number | null;
                    seconds?: number | null;
                } | null;
                /** @description Flags the same score and columns of many players. */
                cluster?: {
                    /** @description Of how many different players equal runs within `minutes` raise a flag. */
                    players?: number | null;
                    minutes?: number | null;
                } | null;
                /** @description Names of the teams' own rules. */
                rules?: string[] | null;
                /** @description A run with a better score than this is held until a moderator decides. */
                holdAbove?: number | null;
            } | null;
            /** @enum {string|null} */
            visibility?: "public" | "private" | null;
            /** @description null: runs are not kept, and cannot be voided or held. */
            runs?: {
                /** @description How long each run is kept; on boards with a rolling window at least that long and a day. */
                keepDays?: number | null;
            } | null;
            /**
             * @description With `run` each counted run is an entry, of a player the best `entriesPerPlayerMax`. Needs `runs` and operator `best`; not with rolling windows, the scope `guild`, `history`, `change` and `entryLifetimeSeconds`.
             * @enum {string|null}
             */
            entriesPer?: "player" | "run" | null;
            /** @description With `entriesPer: run`: how many entries of a player stand in a window. Default: 10. */
            entriesPerPlayerMax?: number | null;
            /**
             * @description Who sees the proof of a run, beside its player.
             * @enum {string|null}
             */
            proof?: "moderators" | "everyone" | null;
            /**
             * @description With `verified` a run is held until it is verified.
             * @enum {string|null}
             */
            counts?: "all" | "verified" | null;
            /** @description How runs of older patches are taxed; null: submissions have no patch. Needs operator `best` and a `limits.scoreMin` of 0 or more; not with rolling windows, guilds, `entriesPer: run`, `history`, `change`, `entriesMax` and `entryLifetimeSeconds`. */
            decay?: {
                /** @description The family of patches. */
                family: string;
                /** @description What each patch that a run is behind takes: above 0, at most 1, at most four decimal places. */
                perPatch: number;
            } | null;
        };
        Board: {
            id: string;
            /** @description The template that the board is of: read alone, it may only be put as it is. */
            template: string | null;
            title: string | null;
            /** @enum {string} */
            order: "asc" | "desc";
            /** @enum {string} */
            operator: "best" | "latest" | "sum";
            /** @enum {string} */
            tiebreak: "earliest" | "latest" | "none";
            columns: {
                name: string;
                /** @enum {string} */
                order: "asc" | "desc";
            }[];
            /** @enum {string} */
            rankStyle: "ordinal" | "competition" | "dense";
            /** @description Whether dense ranks are kept; a rankStyle of dense keeps them, too. */
            dense: boolean;
            windows: (("alltime" | "daily" | "weekly" | "monthly") | {
                /** @description The window is `season:<this>`. */
                season: string;
                /**
                 * Format: timestamp
                 * @description RFC 3339.
                 */
                startsAt: string;
                /**
                 * Format: timestamp
                 * @description RFC 3339. May be moved until the season is over.
                 */
                endsAt: string;
                /**
                 * Format: timestamp
                 * @description From then to the end everyone but admins sees the standings of then.
                 */
                freezeAt?: string | null;
            } | {
                /** @description `24h`: the last 24 hours. */
                rolling: string;
            } | {
                /** @description Minute, hour, day of month, month, day of week: windows last from firing to firing. */
                cron: string;
            })[];
            /** @description IANA name of the zone whose days the windows follow. */
            timeZone: string;
            scopes: (("global" | "region" | "guild") | {
                attribute: string;
            })[];
            sharding: {
                /** @enum {string} */
                by: "hash";
                /** @description Of the global scope. */
                count: number;
            } | {
                /** @enum {string} */
                by: "range";
                /** @description Scores, ascending, between the shards of the global scope. A score that is a boundary itself lies in the worse of its two shards. */
                boundaries: number[];
            };
            limits: {
                scoreMin: number | null;
                scoreMax: number | null;
                /** @description How many entries a running window keeps: the best; up to 5 % more between two trims. */
                entriesMax: number | null;
                /** @description How many runs of a player count in each window. */
                attemptsMax: number | null;
                /** @description An entry goes from the running windows when no run renews it for so long; at least 60. */
                entryLifetimeSeconds: number | null;
                /** @description By the name of a column: the least and the greatest value that a run may have there. */
                columns: {
                    [key: string]: {
                        min?: number | null;
                        max?: number | null;
                    } | null;
                };
            };
            /** @description How late a submission may still enter an ended window. */
            graceSeconds: number;
            /** @description How long an ended window stays in Redis; its standings stay in PostgreSQL. */
            keepEndedSeconds: number;
            snapshot: {
                /** @description How many rows of each list are kept. */
                top: number;
                /** @description null: none is kept. */
                keepEveryMinutes: number | null;
                keepDays: number;
            };
            retention: {
                /** @description null: final standings are kept for ever. */
                standingsDays: number | null;
            };
            push: {
                intervalMs: number;
                top: number;
            };
            history: {
                /** @description One point of a player and window for each stretch of so many minutes. */
                everyMinutes: number;
                /** @description How long points are kept. */
                keepDays: number;
            } | null;
            /** @description Whether rows say how many places a player moved since yesterday. */
            change: boolean;
            guildAggregate: {
                /** @enum {string} */
                kind: "sum" | "average" | "top";
                /** @description With `top`: of how many of the best. */
                k: number | null;
                /** @enum {string} */
                onLeave: "keep" | "takeAway";
            };
            format: {
                /** @enum {string} */
                kind: "number" | "time" | "currency";
                decimals: number;
                unit: string | null;
            };
            /** @enum {string} */
            submitters: "servers" | "players";
            /** @description Of sum boards: with `set` a submission may say that its score is the total from then on. */
            submissionOperators: ("sum" | "set")[] | null;
            clientTime: boolean;
            /** @description What is examined after runs were accepted, and raises flags; null: nothing. Needs `runs`. */
            integrity: {
                /** @description Flags a run that is far better than the runs of its player before it. Not on sum boards. */
                jump: {
                    /** @description By how many units a run must be better than the median of the runs before it. */
                    factor: number;
                    /** @description With fewer counted runs before it nothing is flagged. */
                    runsMin: number;
                };
                /** @description Flags a player whose runs come too fast. */
                rate: {
                    /** @description How many runs of a player within `seconds` raise no flag; the next one does. */
                    runs: number;
                    seconds: number;
                };
                /** @description Flags the same score and columns of many players. */
                cluster: {
                    /** @description Of how many different players equal runs within `minutes` raise a flag. */
                    players: number;
                    minutes: number;
                };
                /** @description Names of the teams' own rules. */
                rules: string[];
                /** @description A run with a better score than this is held until a moderator decides. */
                holdAbove: number;
            } | null;
            /** @enum {string} */
            visibility: "public" | "private";
            /** @description null: runs are not kept, and cannot be voided or held. */
            runs: {
                /** @description How long each run is kept; on boards with a rolling window at least that long and a day. */
                keepDays: number;
            } | null;
            /**
             * @description With `run` each counted run is an entry, of a player the best `entriesPerPlayerMax`. Needs `runs` and operator `best`; not with rolling windows, the scope `guild`, `history`, `change` and `entryLifetimeSeconds`.
             * @enum {string}
             */
            entriesPer: "player" | "run";
            /** @description With `entriesPer: run`: how many entries of a player stand in a window. Default: 10. */
            entriesPerPlayerMax: number | null;
            /**
             * @description Who sees the proof of a run, beside its player.
             * @enum {string}
             */
            proof: "moderators" | "everyone";
            /**
             * @description With `verified` a run is held until it is verified.
             * @enum {string}
             */
            counts: "all" | "verified";
            /** @description How runs of older patches are taxed; null: submissions have no patch. Needs operator `best` and a `limits.scoreMin` of 0 or more; not with rolling windows, guilds, `entriesPer: run`, `history`, `change`, `entriesMax` and `entryLifetimeSeconds`. */
            decay: {
                /** @description The family of patches. */
                family: string;
                /** @description What each patch that a run is behind takes: above 0, at most 1, at most four decimal places. */
                perPatch: number;
            } | null;
        };
        BoardList: {
            boards: components["schemas"]["Board"][];
            /** @description The next cursor. */
            next: string | null;
        };
        Submission: {
            /**
             * Format: opaque-id
             * @description Makes retries safe; or the Idempotency-Key header.
             */
            submissionId?: string;
            /** Format: opaque-id */
            playerId: string;
            /** @description A finite double; on sum boards the increment. */
            score: number;
            /**
             * @description On boards with these submissionOperators: `set` makes the score the total; default: `sum`.
             * @enum {string}
             */
            operator?: "sum" | "set";
            columns?: {
                [key: string]: number;
            };
            /**
             * Format: timestamp
             * @description RFC 3339; default: now, by the database.
             */
            achievedAt?: string;
            /** @description The full id of the window it was played in; with the achievedAt of the run where that window is over: without, it is a run of now, and 422 WINDOW_MISMATCH. */
            window?: string;
            /** @description At most 1,024 bytes of JSON. */
            metadata?: Record<string, unknown>;
            /** Format: opaque-id */
            sourceId?: string;
            /** @description On boards with decay, and only there: the patch that it was played on. */
            patch?: string;
            /**
             * Format: https-url
             * @description On boards that keep runs: where the proof of the run is, an https URL of at most 512 bytes.
             */
            proof?: string;
            /**
             * @description On boards that keep runs: that somebody has looked at the run. For keys only.
             * @enum {boolean}
             */
            verified?: true;
        };
        BatchedSubmission: {
            /** Format: named-id */
            board: string;
            /**
             * Format: opaque-id
             * @description Makes retries safe; or the Idempotency-Key header.
             */
            submissionId?: string;
            /** Format: opaque-id */
            playerId: string;
            /** @description A finite double; on sum boards the increment. */
            score: number;
            /**
             * @description On boards with these submissionOperators: `set` makes the score the total; default: `sum`.
             * @enum {string}
             */
            operator?: "sum" | "set";
            columns?: {
                [key: string]: number;
            };
            /**
             * Format: timestamp
             * @description RFC 3339; default: now, by the database.
             */
            achievedAt?: string;
            /** @description The full id of the window it was played in; with the achievedAt of the run where that window is over: without, it is a run of now, and 422 WINDOW_MISMATCH. */
            window?: string;
            /** @description At most 1,024 bytes of JSON. */
            metadata?: Record<string, unknown>;
            /** Format: opaque-id */
            sourceId?: string;
            /** @description On boards with decay, and only there: the patch that it was played on. */
            patch?: string;
            /**
             * Format: https-url
             * @description On boards that keep runs: where the proof of the run is, an https URL of at most 512 bytes.
             */
            proof?: string;
            /**
             * @description On boards that keep runs: that somebody has looked at the run. For keys only.
             * @enum {boolean}
             */
            verified?: true;
        };
        SubmissionBatch: {
            /** @description One that is not well formed fails alone: its result is a problem. */
            submissions: components["schemas"]["BatchedSubmission"][];
        };
        RankMovement: {
            /** @description The rank that the previous entry would have now. */
            before: number | null;
            /** @description 1-based, ordinal whatever the style of the board, in the list of everybody. */
            after: number;
            /** @description before − after: positive when the player moved up. */
            delta: number | null;
            /** @enum {string} */
            accuracy: "exact" | "estimated";
            /** @description How far off `before` and `after` can be, as of asOf. */
            errorBound: number;
            total: number;
            /** Format: date-time */
            asOf: string;
        };
        SubmissionResult: {
            submissionId: string;
            board: string;
            playerId: string;
            /**
             * @description held: it waits for a moderator, and changes no entry yet. With `entriesPer: run`: created, or unchanged where the run is not among the best of its player.
             * @enum {string}
             */
            outcome: "created" | "improved" | "changed" | "unchanged" | "held";
            /** @description true: this submissionId was seen before, and this is the first answer again. */
            replayed: boolean;
            /** @description Of the named window, else of the first of the board. */
            score: number;
            previousScore: number | null;
            /** @description Grows with each change of the entry; not a count. */
            version: number;
            windows: string[];
            /** @description With `entriesPer: run`: the entry that score and rank are of; the player's best where the run does not stand. */
            entryId?: string;
            /** @description With `entriesPer: run`: the entry of the player that the run pushed out. */
            displaced?: string;
            /** @description On boards with decay: `score` without its tax. */
            rawScore?: number;
            /** @description On boards with decay: the patch of the entry as it stands. */
            patch?: string;
            /** @description On boards with decay: how many patches that is behind the latest one. */
            patchesBehind?: number;
            /** @description On boards with decay: whether this run is kept, be it that another one stands. */
            kept?: boolean;
            /** @description null when nothing can be said now. */
            rank: components["schemas"]["RankMovement"] | null;
        };
        SubmissionResults: {
            results: (components["schemas"]["SubmissionResult"] | {
                problem: components["schemas"]["Problem"];
            })[];
        };
        EntryOverride: {
            score: number;
            columns?: {
                [key: string]: number;
            };
            reason: string;
        };
        RunVerification: {
            verified: boolean;
            reason: string;
        };
        Run: {
            submissionId: string;
            playerId: string;
            /**
             * @description set: a total that was set; override, removal: by an operator; trim: taken away by a limit. All but run stand in place of what was accepted before.
             * @enum {string}
             */
            kind: "run" | "set" | "override" | "removal" | "trim";
            /**
             * @description Whether it counts, waits for a moderator, or was taken out.
             * @enum {string}
             */
            state: "counted" | "held" | "voided";
            /** @description null: it took the entry away. */
            score: number | null;
            columns: {
                [key: string]: number;
            };
            /** Format: date-time */
            achievedAt: string;
            /** Format: date-time */
            acceptedAt: string;
            windows: string[];
            entryOf: string[];
            metadata: {
                [key: string]: unknown;
            } | null;
            /** @description An https URL. */
            proof: string | null;
            verified: boolean;
            sourceId: string | null;
            /** @description On boards with decay alone: the patch as which it counts; null: of what took the entry away. `score` is the raw one. */
            patch?: string | null;
            /** @description Its place in the order of acceptance. */
            version: number;
            /** @description What a moderator said of it last; not for the player itself. */
            reason?: string | null;
        };
        EntryChange: {
            board: string;
            playerId: string;
            windows: string[];
            version: number;
            /** @description On boards that keep runs: the id that it has among them. */
            submissionId: string | null;
        };
        RunsPage: {
            runs: components["schemas"]["Run"][];
            /** @description The next cursor. */
            next: string | null;
        };
        RunActResult: {
            submissionId: string;
            /** @enum {string} */
            outcome: "voided" | "restored" | "verified" | "unverified" | "unchanged";
            /** @description Of the entries that changed, else of the run. */
            version: number;
            windows: {
                /** @description Its full id. */
                window: string;
                /** @description The entry before the act, with `entriesPer: run` the one that went; null: none. */
                before: {
                    /** @description An IEEE double, bit for bit as it was submitted. */
                    score: number;
                    columns: {
                        [key: string]: number;
                    };
                    /** Format: date-time */
                    achievedAt: string;
                } | null;
                /** @description The entry after the act, with `entriesPer: run` the one that came; null: none. */
                after: {
                    /** @description An IEEE double, bit for bit as it was submitted. */
                    score: number;
                    columns: {
                        [key: string]: number;
                    };
                    /** Format: date-time */
                    achievedAt: string;
                } | null;
                /** @description Its final standings follow, as their next edition. */
                revising: boolean;
            }[];
        };
        RankedEntry: {
            /** @description 1-based. */
            rank: number;
            playerId: string;
            displayName: string | null;
            /** @description With `fields=player`: the face of the player as it is now, also in lists of what was. Of attributes those that PLAYER_ATTRIBUTES_SHOWN names; null and none where nothing is known, or can be looked up now. */
            player?: {
                /** Format: http-url */
                avatarUrl: string | null;
                /**
                 * Format: scope-value
                 * @description 1-64 bytes of UTF-8 without control characters or lone surrogates.
                 */
                region: string | null;
                attributes: {
                    [key: string]: string;
                };
            };
            /** @description An IEEE double, bit for bit as it was submitted. */
            score: number;
            columns: {
                [key: string]: number;
            };
            /**
             * Format: date-time
             * @description null only while the database, which alone keeps it, is away.
             */
            achievedAt: string | null;
            metadata: Record<string, unknown> | null;
            /** @description With `entriesPer: run`: the id of the submission. With the player's it names the row. */
            entryId?: string;
            /** @description On boards that keep runs: whether somebody has looked at the run that the entry rests on; false of sums, and of what is no longer kept as a run. */
            verified?: boolean;
            /**
             * Format: https-url
             * @description Of that run, on boards with `proof: everyone`.
             */
            proof?: string | null;
            /** @description On boards with decay: the score without its tax. */
            rawScore?: number;
            /** @description On boards with decay: the patch as which the run counts. */
            patch?: string;
            /** @description On boards with decay: how many patches that is behind the latest one that the tax knows. */
            patchesBehind?: number;
            /** @description Only on boards with `change`, in the list of everybody: ordinal places moved up since the day began in the zone of the board, negative: down; null: not known. */
            change?: number | null;
        };
        EntriesPage: {
            board: string;
            window: {
                id: string;
                /** Format: date-time */
                startsAt: string | null;
                /** Format: date-time */
                endsAt: string | null;
                /**
                 * Format: date-time
                 * @description When the running window ends and the next begins; of a rolling one, when the oldest hour leaves it.
                 */
                resetsAt: string | null;
                /** @description Of an ended window whose final standings are written: which of them the answer is of; 1 is the first. */
                edition?: number;
                /** @description true while an act is decided that the newest edition does not show yet. */
                revising?: boolean;
            };
            /** @description `global`, `region:EU`, `guild:red`, `country:US`; `guilds` where the entries are guilds. */
            scope: string;
            /** @description How many entries the list has. */
            total: number;
            /** @description On boards where each run is an entry: how many players the list has, as of some seconds ago; null: not known, of lists as they stood and where it cannot be counted in time. */
            players?: number | null;
            /** @description Of the projection; for one name of a list, such as `daily`, it never falls. */
            boardVersion: number;
            /**
             * Format: date-time
             * @description The moment that the answer is of; of standings, that of which they are.
             */
            asOf: string;
            /** @enum {string} */
            rankStyle: "ordinal" | "competition" | "dense";
            /**
             * @description estimated: by the sketch of the list, or entries moved between its shards while it was read.
             * @enum {string}
             */
            accuracy: "exact" | "estimated";
            /** @description Of estimated answers: how far off ranks and total are at most, as of asOf. */
            errorBound?: number;
            /** @description On boards with decay: the tax that all scores of the answer are under. */
            decay?: {
                /** @description The newest patch that the tax counts; null: none is published. */
                latest: string | null;
                /**
                 * Format: date-time
                 * @description Since when lists under this tax are served.
                 */
                since: string | null;
                /** @description What each patch takes. */
                perPatch: number;
                /** @description The tax that comes next, and how far its lists are; null: this is the newest. */
                retaxing: {
                    to: string | null;
                    done: number;
                } | null;
            };
            entries: components["schemas"]["RankedEntry"][];
            /** @description The path of the page after this one. */
            next: string | null;
            prev: string | null;
            /**
             * Format: date-time
             * @description Of pages by cursor: until when, at the latest; null: as long as the standings are kept.
             */
            cursorExpiresAt?: string | null;
        };
        PlayerRank: {
            board: string;
            window: {
                id: string;
                /** Format: date-time */
                startsAt: string | null;
                /** Format: date-time */
                endsAt: string | null;
                /**
                 * Format: date-time
                 * @description When the running window ends and the next begins; of a rolling one, when the oldest hour leaves it.
                 */
                resetsAt: string | null;
                /** @description Of an ended window whose final standings are written: which of them the answer is of; 1 is the first. */
                edition?: number;
                /** @description true while an act is decided that the newest edition does not show yet. */
                revising?: boolean;
            };
            /** @description `global`, `region:EU`, `guild:red`, `country:US`; `guilds` where the entries are guilds. */
            scope: string;
            /** @description How many entries the list has. */
            total: number;
            /** @description On boards where each run is an entry: how many players the list has, as of some seconds ago; null: not known, of lists as they stood and where it cannot be counted in time. */
            players?: number | null;
            /** @description Of the projection; for one name of a list, such as `daily`, it never falls. */
            boardVersion: number;
            /**
             * Format: date-time
             * @description The moment that the answer is of; of standings, that of which they are.
             */
            asOf: string;
            /** @enum {string} */
            rankStyle: "ordinal" | "competition" | "dense";
            /**
             * @description estimated: by the sketch of the list, or entries moved between its shards while it was read.
             * @enum {string}
             */
            accuracy: "exact" | "estimated";
            /** @description Of estimated answers: how far off ranks and total are at most, as of asOf. */
            errorBound?: number;
            /** @description On boards with decay: the tax that all scores of the answer are under. */
            decay?: {
                /** @description The newest patch that the tax counts; null: none is published. */
                latest: string | null;
                /**
                 * Format: date-time
                 * @description Since when lists under this tax are served.
                 */
                since: string | null;
                /** @description What each patch takes. */
                perPatch: number;
                /** @description The tax that comes next, and how far its lists are; null: this is the newest. */
                retaxing: {
                    to: string | null;
                    done: number;
                } | null;
            };
            entry: {
                /** @description 1-based. */
                rank: number;
                playerId: string;
                displayName: string | null;
                /** @description With `fields=player`: the face of the player as it is now, also in lists of what was. Of attributes those that PLAYER_ATTRIBUTES_SHOWN names; null and none where nothing is known, or can be looked up now. */
                player?: {
                    /** Format: http-url */
                    avatarUrl: string | null;
                    /**
                     * Format: scope-value
                     * @description 1-64 bytes of UTF-8 without control characters or lone surrogates.
                     */
                    region: string | null;
                    attributes: {
                        [key: string]: string;
                    };
                };
                /** @description An IEEE double, bit for bit as it was submitted. */
                score: number;
                columns: {
                    [key: string]: number;
                };
                /**
                 * Format: date-time
                 * @description null only while the database, which alone keeps it, is away.
                 */
                achievedAt: string | null;
                metadata: Record<string, unknown> | null;
                /** @description With `entriesPer: run`: the id of the submission. With the player's it names the row. */
                entryId?: string;
                /** @description On boards that keep runs: whether somebody has looked at the run that the entry rests on; false of sums, and of what is no longer kept as a run. */
                verified?: boolean;
                /**
                 * Format: https-url
                 * @description Of that run, on boards with `proof: everyone`.
                 */
                proof?: string | null;
                /** @description On boards with decay: the score without its tax. */
                rawScore?: number;
                /** @description On boards with decay: the patch as which the run counts. */
                patch?: string;
                /** @description On boards with decay: how many patches that is behind the latest one that the tax knows. */
                patchesBehind?: number;
                /** @description Only on boards with `change`, in the list of everybody: ordinal places moved up since the day began in the zone of the board, negative: down; null: not known. */
                change?: number | null;
                /** @description 100 × (total − rank) / max(1, total − 1); in dense with the competition rank, which ties share too. */
                percentile: number;
                /** @enum {string} */
                accuracy: "exact" | "estimated";
                /** @description How far off an estimated rank is at most, as of asOf. */
                errorBound?: number;
            } | null;
            /** @description With `entriesPer: run`: all entries of the player, the best first; `entry` is that one. */
            entries?: components["schemas"]["RankedEntry"][];
            neighbours: components["schemas"]["RankedEntry"][];
            /** @description With `runs=1`, on boards with decay: what stands, or can stand again under a later tax; the standing one first. */
            runs?: {
                /** @description An IEEE double, bit for bit as it was submitted. */
                score: number;
                /** @description On boards with decay: the score without its tax. */
                rawScore: number;
                /** @description On boards with decay: the patch as which the run counts. */
                patch: string;
                /** @description On boards with decay: how many patches that is behind the latest one that the tax knows. */
                patchesBehind: number;
                columns: {
                    [key: string]: number;
                };
                /** Format: date-time */
                achievedAt: string;
                metadata: Record<string, unknown> | null;
            }[];
            /** @description For keys with the scope moderate: what is in force on this player. */
            sanction?: {
                /** @enum {string} */
                kind: "ban" | "hide" | "shadow";
                /** Format: date-time */
                until: string | null;
                publicReason: string | null;
            };
        };
        PlayerHistory: {
            board: string;
            window: {
                id: string;
                /** Format: date-time */
                startsAt: string | null;
                /** Format: date-time */
                endsAt: string | null;
                /** Format: date-time */
                resetsAt: string | null;
            };
            playerId: string;
            /** @description Each stretch of so many minutes since 1970 has at most one point. */
            everyMinutes: number;
            points: {
                /**
                 * Format: date-time
                 * @description When the entry came to be so.
                 */
                at: string;
                /** @description null: the entry was removed. */
                score: number | null;
                columns: {
                    [key: string]: number;
                };
                /** @description Of the entry: it grows with each change. */
                version: number;
                /** @description Where the player stood when the point was written; null where that could not be looked up in time. */
                rank: {
                    /** @description 1-based, ordinal, in the list of everybody. */
                    rank: number;
                    /** @description How many entries the list had. */
                    total: number;
                    /**
                     * @description exact: the rank of this very state as of asOf; estimated: the list showed an earlier or later state of the entry.
                     * @enum {string}
                     */
                    accuracy: "exact" | "estimated";
                    /** @description 0 where it is exact; else null: nobody knows how far off it is. */
                    errorBound: number | null;
                    /**
                     * Format: date-time
                     * @description When it was read: a moment after `at`.
                     */
                    asOf: string;
                } | null;
            }[];
            /** @description The next cursor. */
            next: string | null;
        };
        RankOfScore: {
            board: string;
            window: {
                id: string;
                /** Format: date-time */
                startsAt: string | null;
                /** Format: date-time */
                endsAt: string | null;
                /**
                 * Format: date-time
                 * @description When the running window ends and the next begins; of a rolling one, when the oldest hour leaves it.
                 */
                resetsAt: string | null;
                /** @description Of an ended window whose final standings are written: which of them the answer is of; 1 is the first. */
                edition?: number;
                /** @description true while an act is decided that the newest edition does not show yet. */
                revising?: boolean;
            };
            /** @description `global`, `region:EU`, `guild:red`, `country:US`; `guilds` where the entries are guilds. */
            scope: string;
            /** @description How many entries the list has. */
            total: number;
            /** @description On boards where each run is an entry: how many players the list has, as of some seconds ago; null: not known, of lists as they stood and where it cannot be counted in time. */
            players?: number | null;
            /** @description Of the projection; for one name of a list, such as `daily`, it never falls. */
            boardVersion: number;
            /**
             * Format: date-time
             * @description The moment that the answer is of; of standings, that of which they are.
             */
            asOf: string;
            /** @enum {string} */
            rankStyle: "ordinal" | "competition" | "dense";
            /**
             * @description estimated: by the sketch of the list, or entries moved between its shards while it was read.
             * @enum {string}
             */
            accuracy: "exact" | "estimated";
            /** @description Of estimated answers: how far off ranks and total are at most, as of asOf. */
            errorBound?: number;
            /** @description On boards with decay: the tax that all scores of the answer are under. */
            decay?: {
                /** @description The newest patch that the tax counts; null: none is published. */
                latest: string | null;
                /**
                 * Format: date-time
                 * @description Since when lists under this tax are served.
                 */
                since: string | null;
                /** @description What each patch takes. */
                perPatch: number;
                /** @description The tax that comes next, and how far its lists are; null: this is the newest. */
                retaxing: {
                    to: string | null;
                    done: number;
                } | null;
            };
            rank: number;
        };
        Percentiles: {
            board: string;
            window: {
                id: string;
                /** Format: date-time */
                startsAt: string | null;
                /** Format: date-time */
                endsAt: string | null;
                /**
                 * Format: date-time
                 * @description When the running window ends and the next begins; of a rolling one, when the oldest hour leaves it.
                 */
                resetsAt: string | null;
                /** @description Of an ended window whose final standings are written: which of them the answer is of; 1 is the first. */
                edition?: number;
                /** @description true while an act is decided that the newest edition does not show yet. */
                revising?: boolean;
            };
            /** @description `global`, `region:EU`, `guild:red`, `country:US`; `guilds` where the entries are guilds. */
            scope: string;
            /** @description How many entries the list has. */
            total: number;
            /** @description On boards where each run is an entry: how many players the list has, as of some seconds ago; null: not known, of lists as they stood and where it cannot be counted in time. */
            players?: number | null;
            /** @description Of the projection; for one name of a list, such as `daily`, it never falls. */
            boardVersion: number;
            /**
             * Format: date-time
             * @description The moment that the answer is of; of standings, that of which they are.
             */
            asOf: string;
            /** @enum {string} */
            rankStyle: "ordinal" | "competition" | "dense";
            /**
             * @description estimated: by the sketch of the list, or entries moved between its shards while it was read.
             * @enum {string}
             */
            accuracy: "exact" | "estimated";
            /** @description Of estimated answers: how far off ranks and total are at most, as of asOf. */
            errorBound?: number;
            /** @description On boards with decay: the tax that all scores of the answer are under. */
            decay?: {
                /** @description The newest patch that the tax counts; null: none is published. */
                latest: string | null;
                /**
                 * Format: date-time
                 * @description Since when lists under this tax are served.
                 */
                since: string | null;
                /** @description What each patch takes. */
                perPatch: number;
                /** @description The tax that comes next, and how far its lists are; null: this is the newest. */
                retaxing: {
                    to: string | null;
                    done: number;
                } | null;
            };
            percentiles: {
                percentile: number;
                /** @description The nearest to the percentile. */
                rank: number | null;
                score: number | null;
                /** @description How far the rank of the score's entry is from `rank` at most, as of asOf. */
                errorBound: number;
            }[];
        };
        CirclePage: {
            board: string;
            window: {
                id: string;
                /** Format: date-time */
                startsAt: string | null;
                /** Format: date-time */
                endsAt: string | null;
                /**
                 * Format: date-time
                 * @description When the running window ends and the next begins; of a rolling one, when the oldest hour leaves it.
                 */
                resetsAt: string | null;
                /** @description Of an ended window whose final standings are written: which of them the answer is of; 1 is the first. */
                edition?: number;
                /** @description true while an act is decided that the newest edition does not show yet. */
                revising?: boolean;
            };
            /** @description `global`, `region:EU`, `guild:red`, `country:US`; `guilds` where the entries are guilds. */
            scope: string;
            /** @description How many of the circle have an entry. */
            total: number;
            /** @description On boards where each run is an entry: how many players the list has, as of some seconds ago; null: not known, of lists as they stood and where it cannot be counted in time. */
            players?: number | null;
            /** @description Of the projection; for one name of a list, such as `daily`, it never falls. */
            boardVersion: number;
            /**
             * Format: date-time
             * @description The moment that the answer is of; of standings, that of which they are.
             */
            asOf: string;
            /** @enum {string} */
            rankStyle: "ordinal" | "competition" | "dense";
            /**
             * @description estimated: by the sketch of the list, or entries moved between its shards while it was read.
             * @enum {string}
             */
            accuracy: "exact" | "estimated";
            /** @description Of estimated answers: how far off ranks and total are at most, as of asOf. */
            errorBound?: number;
            /** @description On boards with decay: the tax that all scores of the answer are under. */
            decay?: {
                /** @description The newest patch that the tax counts; null: none is published. */
                latest: string | null;
                /**
                 * Format: date-time
                 * @description Since when lists under this tax are served.
                 */
                since: string | null;
                /** @description What each patch takes. */
                perPatch: number;
                /** @description The tax that comes next, and how far its lists are; null: this is the newest. */
                retaxing: {
                    to: string | null;
                    done: number;
                } | null;
            };
            /** @description How many players the circle has; of friends and follows the player is one of them. */
            members: number;
            entries: {
                /** @description 1-based, among the circle. */
                rank: number;
                playerId: string;
                displayName: string | null;
                /** @description With `fields=player`: the face of the player as it is now, also in lists of what was. Of attributes those that PLAYER_ATTRIBUTES_SHOWN names; null and none where nothing is known, or can be looked up now. */
                player?: {
                    /** Format: http-url */
                    avatarUrl: string | null;
                    /**
                     * Format: scope-value
                     * @description 1-64 bytes of UTF-8 without control characters or lone surrogates.
                     */
                    region: string | null;
                    attributes: {
                        [key: string]: string;
                    };
                };
                /** @description An IEEE double, bit for bit as it was submitted. */
                score: number;
                columns: {
                    [key: string]: number;
                };
                /**
                 * Format: date-time
                 * @description null only while the database, which alone keeps it, is away.
                 */
                achievedAt: string | null;
                metadata: Record<string, unknown> | null;
                /** @description With `entriesPer: run`: the id of the submission. With the player's it names the row. */
                entryId?: string;
                /** @description On boards that keep runs: whether somebody has looked at the run that the entry rests on; false of sums, and of what is no longer kept as a run. */
                verified?: boolean;
                /**
                 * Format: https-url
                 * @description Of that run, on boards with `proof: everyone`.
                 */
                proof?: string | null;
                /** @description On boards with decay: the score without its tax. */
                rawScore?: number;
                /** @description On boards with decay: the patch as which the run counts. */
                patch?: string;
                /** @description On boards with decay: how many patches that is behind the latest one that the tax knows. */
                patchesBehind?: number;
                /** @description 1-based, in the list of the window and scope. */
                globalRank: number;
            }[];
            /** @description The path of the page after this one. */
            next: string | null;
            prev: string | null;
        };
        Friends: {
            playerId: string;
            friends: string[];
            /** @description Whom the player has asked. */
            asked: string[];
            /** @description Who has asked the player. */
            askedBy: string[];
        };
        Friendship: {
            playerId: string;
            otherId: string;
            /**
             * @description asked: it waits until the other player asks, too.
             * @enum {string}
             */
            state: "friends" | "asked";
        };
        Follows: {
            playerId: string;
            follows: string[];
        };
        Follow: {
            playerId: string;
            otherId: string;
            /** @enum {string} */
            state: "follows";
        };
        CircleMembers: {
            circle: string;
            members: string[];
        };
        CircleMember: {
            circle: string;
            playerId: string;
            /** @description How many it has now. */
            members: number;
        };
        Player: {
            playerId: string;
            displayName: string | null;
            /**
             * Format: scope-value
             * @description 1-64 bytes of UTF-8 without control characters or lone surrogates.
             */
            region: string | null;
            /** Format: http-url */
            avatarUrl: string | null;
            attributes: {
                [key: string]: string;
            };
            /** @description Whether others see the player in lists. */
            listed?: boolean;
            guildId: string | null;
        };
        PlayerProfile: {
            displayName?: string | null;
            /**
             * Format: scope-value
             * @description 1-64 bytes of UTF-8 without control characters or lone surrogates.
             */
            region?: string | null;
            /** Format: http-url */
            avatarUrl?: string | null;
            attributes?: {
                [key: string]: string;
            } | null;
            /** @description Whether others see the player in lists. */
            listed?: boolean | null;
        };
        Guild: {
            guildId: string;
            displayName: string | null;
            memberCount: number;
        };
        GuildDefinition: {
            displayName?: string | null;
        };
        GuildMembers: {
            guildId: string;
            members: {
                playerId: string;
                displayName: string | null;
                /** @description With `fields=player`: the face of the player as it is now, also in lists of what was. Of attributes those that PLAYER_ATTRIBUTES_SHOWN names; null and none where nothing is known, or can be looked up now. */
                player?: {
                    /** Format: http-url */
                    avatarUrl: string | null;
                    /**
                     * Format: scope-value
                     * @description 1-64 bytes of UTF-8 without control characters or lone surrogates.
                     */
                    region: string | null;
                    attributes: {
                        [key: string]: string;
                    };
                };
                /** Format: date-time */
                joinedAt: string;
            }[];
            /** @description The next cursor. */
            next: string | null;
        };
        GuildMembership: {
            guildId: string;
            playerId: string;
            /** Format: date-time */
            joinedAt: string;
            /** @description The guild that it left for this one. */
            leftGuildId: string | null;
        };
        NewSanction: {
            /** @enum {string} */
            kind: "ban" | "hide" | "shadow";
            /** @description Why; the player never sees it. */
            reason: string;
            /** @description What a banned player is told. */
            publicReason?: string | null;
            /**
             * Format: timestamp
             * @description RFC 3339, in the future: when it is lifted by the clock. Default: null, never.
             */
            until?: string | null;
            /** @description The boards that it holds on. Default: null, all, also those made later. */
            boards?: string[] | null;
        };
        PutSanction: {
            playerId: string;
            sanction: {
                /** @description Grows with time. */
                sanctionId: number;
                /** @enum {string} */
                kind: "ban" | "hide" | "shadow";
                /** @description Why; the player never sees it. */
                reason: string;
                /** @description What a banned player is told. */
                publicReason: string | null;
                /**
                 * Format: date-time
                 * @description When the clock lifts it; null: never.
                 */
                until: string | null;
                /** @description The boards that it holds on; null: all. */
                boards: string[] | null;
                /** @description The keyId of the API key. */
                putBy: string;
                /** Format: date-time */
                putAt: string;
                /**
                 * Format: date-time
                 * @description Since when it is not in force; null: it is.
                 */
                endedAt: string | null;
                /** @description The keyId of the API key; `clock` where `until` was over. */
                endedBy: string | null;
                /** @description Why it was lifted; of a replaced one, why the next one was put. */
                endReason: string | null;
                /** @description How far the entries of the player follow it, or its end. */
                progress: {
                    isDone: boolean;
                    /** @description How many entries were changed for it so far. */
                    entries: number;
                };
            };
        };
        LiftedSanction: {
            playerId: string;
            /** @description The one that was lifted; null: none was in force. */
            sanction: {
                /** @description Grows with time. */
                sanctionId: number;
                /** @enum {string} */
                kind: "ban" | "hide" | "shadow";
                /** @description Why; the player never sees it. */
                reason: string;
                /** @description What a banned player is told. */
                publicReason: string | null;
                /**
                 * Format: date-time
                 * @description When the clock lifts it; null: never.
                 */
                until: string | null;
                /** @description The boards that it holds on; null: all. */
                boards: string[] | null;
                /** @description The keyId of the API key. */
                putBy: string;
                /** Format: date-time */
                putAt: string;
                /**
                 * Format: date-time
                 * @description Since when it is not in force; null: it is.
                 */
                endedAt: string | null;
                /** @description The keyId of the API key; `clock` where `until` was over. */
                endedBy: string | null;
                /** @description Why it was lifted; of a replaced one, why the next one was put. */
                endReason: string | null;
                /** @description How far the entries of the player follow it, or its end. */
                progress: {
                    isDone: boolean;
                    /** @description How many entries were changed for it so far. */
                    entries: number;
                };
            } | null;
        };
        SanctionList: {
            playerId: string;
            sanctions: {
                /** @description Grows with time. */
                sanctionId: number;
                /** @enum {string} */
                kind: "ban" | "hide" | "shadow";
                /** @description Why; the player never sees it. */
                reason: string;
                /** @description What a banned player is told. */
                publicReason: string | null;
                /**
                 * Format: date-time
                 * @description When the clock lifts it; null: never.
                 */
                until: string | null;
                /** @description The boards that it holds on; null: all. */
                boards: string[] | null;
                /** @description The keyId of the API key. */
                putBy: string;
                /** Format: date-time */
                putAt: string;
                /**
                 * Format: date-time
                 * @description Since when it is not in force; null: it is.
                 */
                endedAt: string | null;
                /** @description The keyId of the API key; `clock` where `until` was over. */
                endedBy: string | null;
                /** @description Why it was lifted; of a replaced one, why the next one was put. */
                endReason: string | null;
                /** @description How far the entries of the player follow it, or its end. */
                progress: {
                    isDone: boolean;
                    /** @description How many entries were changed for it so far. */
                    entries: number;
                };
            }[];
            /** @description The next cursor. */
            next: string | null;
        };
        PlayerLookup: {
            playerIds: string[];
            /** @description Order the players among themselves. */
            ranked?: boolean;
            /** @enum {string} */
            accuracy?: "exact" | "estimated";
        };
        PlayersLookup: {
            board: string;
            window: {
                id: string;
                /** Format: date-time */
                startsAt: string | null;
                /** Format: date-time */
                endsAt: string | null;
                /**
                 * Format: date-time
                 * @description When the running window ends and the next begins; of a rolling one, when the oldest hour leaves it.
                 */
                resetsAt: string | null;
                /** @description Of an ended window whose final standings are written: which of them the answer is of; 1 is the first. */
                edition?: number;
                /** @description true while an act is decided that the newest edition does not show yet. */
                revising?: boolean;
            };
            /** @description `global`, `region:EU`, `guild:red`, `country:US`; `guilds` where the entries are guilds. */
            scope: string;
            /** @description How many entries the list has. */
            total: number;
            /** @description On boards where each run is an entry: how many players the list has, as of some seconds ago; null: not known, of lists as they stood and where it cannot be counted in time. */
            players?: number | null;
            /** @description Of the projection; for one name of a list, such as `daily`, it never falls. */
            boardVersion: number;
            /**
             * Format: date-time
             * @description The moment that the answer is of; of standings, that of which they are.
             */
            asOf: string;
            /** @enum {string} */
            rankStyle: "ordinal" | "competition" | "dense";
            /**
             * @description estimated: by the sketch of the list, or entries moved between its shards while it was read.
             * @enum {string}
             */
            accuracy: "exact" | "estimated";
            /** @description Of estimated answers: how far off ranks and total are at most, as of asOf. */
            errorBound?: number;
            /** @description On boards with decay: the tax that all scores of the answer are under. */
            decay?: {
                /** @description The newest patch that the tax counts; null: none is published. */
                latest: string | null;
                /**
                 * Format: date-time
                 * @description Since when lists under this tax are served.
                 */
                since: string | null;
                /** @description What each patch takes. */
                perPatch: number;
                /** @description The tax that comes next, and how far its lists are; null: this is the newest. */
                retaxing: {
                    to: string | null;
                    done: number;
                } | null;
            };
            entries: ({
                /** @description 1-based. */
                rank: number;
                playerId: string;
                displayName: string | null;
                /** @description With `fields=player`: the face of the player as it is now, also in lists of what was. Of attributes those that PLAYER_ATTRIBUTES_SHOWN names; null and none where nothing is known, or can be looked up now. */
                player?: {
                    /** Format: http-url */
                    avatarUrl: string | null;
                    /**
                     * Format: scope-value
                     * @description 1-64 bytes of UTF-8 without control characters or lone surrogates.
                     */
                    region: string | null;
                    attributes: {
                        [key: string]: string;
                    };
                };
                /** @description An IEEE double, bit for bit as it was submitted. */
                score: number;
                columns: {
                    [key: string]: number;
                };
                /**
                 * Format: date-time
                 * @description null only while the database, which alone keeps it, is away.
                 */
                achievedAt: string | null;
                metadata: Record<string, unknown> | null;
                /** @description With `entriesPer: run`: the id of the submission. With the player's it names the row. */
                entryId?: string;
                /** @description On boards that keep runs: whether somebody has looked at the run that the entry rests on; false of sums, and of what is no longer kept as a run. */
                verified?: boolean;
                /**
                 * Format: https-url
                 * @description Of that run, on boards with `proof: everyone`.
                 */
                proof?: string | null;
                /** @description On boards with decay: the score without its tax. */
                rawScore?: number;
                /** @description On boards with decay: the patch as which the run counts. */
                patch?: string;
                /** @description On boards with decay: how many patches that is behind the latest one that the tax knows. */
                patchesBehind?: number;
                /** @description How far off an estimated rank is at most, as of asOf. */
                errorBound?: number;
            } | null)[];
        };
        NewApiKey: {
            name: string;
            scopes: ("scores:write" | "read" | "moderate" | "admin")[];
            /**
             * Format: timestamp
             * @description RFC 3339, in the future. Default: null, never.
             */
            expiresAt?: string | null;
        };
        KeyRotation: {
            /** @description How long the secret of now still works (default 3600); with 0 all earlier ones end at once. */
            overlapSeconds?: number;
            /**
             * Format: timestamp
             * @description When the key ends from now on; null: never. Default: as before.
             */
            expiresAt?: string | null;
        };
        CreatedApiKey: {
            keyId: string;
            name: string;
            scopes: ("scores:write" | "read" | "moderate" | "admin")[];
            /**
             * Format: date-time
             * @description When the key stops working; null: never.
             */
            expiresAt: string | null;
            /** @description Shown this once, and stored nowhere. */
            secret: string;
        };
        RotatedApiKey: {
            keyId: string;
            name: string;
            scopes: ("scores:write" | "read" | "moderate" | "admin")[];
            /**
             * Format: date-time
             * @description When the key stops working; null: never.
             */
            expiresAt: string | null;
            /**
             * Format: date-time
             * @description Until when a secret from before a rotation still works; null: none does.
             */
            overlapUntil: string | null;
            /** @description Shown this once, and stored nowhere. */
            secret: string;
        };
        ApiKeyList: {
            keys: {
                keyId: string;
                name: string;
                scopes: ("scores:write" | "read" | "moderate" | "admin")[];
                /** Format: date-time */
                createdAt: string;
                /**
                 * Format: date-time
                 * @description When the key stops working; null: never.
                 */
                expiresAt: string | null;
                /** Format: date-time */
                rotatedAt: string | null;
                /**
                 * Format: date-time
                 * @description Until when a secret from before a rotation still works; null: none does.
                 */
                overlapUntil: string | null;
                /** Format: date-time */
                revokedAt: string | null;
            }[];
            /** @description The next cursor. */
            next: string | null;
        };
        AuditPage: {
            acts: {
                /** @description Grows with time. */
                auditId: number;
                /** Format: date-time */
                at: string;
                /** @description The keyId of the API key; `the service` for what it did by its settings. */
                actor: string;
                /** @description What was done: `board.reset`, `entry.set`, `api-key.rotate`, … */
                action: string;
                /** @description What it was done to: a board, a key, `board/player`. */
                subject: string;
                details: Record<string, unknown>;
            }[];
            /** @description The next cursor. */
            next: string | null;
        };
        LanesToHave: {
            /** @description How many there are to be: a multiple of how many there are. */
            lanes: number;
        };
        Lanes: {
            /** @description How many there are. */
            lanes: number;
            maps: {
                lanes: number;
                /** @description The log position from which on there were so many. */
                since: number;
            }[];
        };
        BoardRebuild: {
            board: string;
            /** @description Which will serve. */
            generation: number;
        };
        BoardLayout: {
            board: string;
            generations: {
                generation: number;
                /**
                 * @description filling: from PostgreSQL; proving: the log's consumers are waited for; retiring: it served until a moment ago, and is fed still; removing: its keys are on their way out.
                 * @enum {string}
                 */
                state: "serving" | "filling" | "proving" | "retiring" | "removing";
                sharding: {
                    /** @enum {string} */
                    by: "hash";
                    count: number;
                } | {
                    /** @enum {string} */
                    by: "range";
                    /** @description Scores, ascending, between the shards of the global scope. A score that is a boundary itself lies in the worse of its two shards. */
                    boundaries: number[];
                };
                /** @description Whether dense ranks can be read. */
                dense: boolean;
                /** @description While it is filled: by the present scan. */
                entriesRead?: number;
                /** @description While it is filled: how many were begun. */
                scans?: number;
            }[];
        };
        WindowsPage: {
            board: string;
            windows: {
                id: string;
                /** @enum {string} */
                kind: "alltime" | "daily" | "weekly" | "monthly" | "season" | "rolling" | "cron";
                /** @enum {string} */
                state: "running" | "upcoming" | "ended" | "settled";
                /** Format: date-time */
                startsAt: string | null;
                /** Format: date-time */
                endsAt: string | null;
                /** Format: date-time */
                resetsAt: string | null;
                /**
                 * Format: date-time
                 * @description From here to the end everyone but admins sees it as it stood.
                 */
                freezeAt: string | null;
                isFrozen: boolean;
                /** @description Of the final standings. */
                version: number | null;
                /** @description Of the final standings, in the list of everybody. */
                entries: number | null;
            }[];
            /** @description The next cursor. */
            next: string | null;
        };
        EditionsPage: {
            board: string;
            window: {
                id: string;
                /** Format: date-time */
                startsAt: string | null;
                /** Format: date-time */
                endsAt: string | null;
                /**
                 * Format: date-time
                 * @description When the running window ends and the next begins; of a rolling one, when the oldest hour leaves it.
                 */
                resetsAt: string | null;
                /** @description Of an ended window whose final standings are written: which of them the answer is of; 1 is the first. */
                edition?: number;
                /** @description true while an act is decided that the newest edition does not show yet. */
                revising?: boolean;
            };
            editions: {
                /** @description 1 is the first. */
                edition: number;
                /**
                 * Format: date-time
                 * @description When it was written.
                 */
                at: string;
                /** @description Why its acts were done; null for the first, and without the scope moderate. */
                reason: string | null;
                acts: number[];
            }[];
            /** @description The next cursor. */
            next: string | null;
        };
        StandingsPage: {
            playerId: string;
            /** Format: date-time */
            asOf: string;
            standings: {
                board: string;
                title: string | null;
                window: {
                    id: string;
                    /** Format: date-time */
                    startsAt: string | null;
                    /** Format: date-time */
                    endsAt: string | null;
                    /**
                     * Format: date-time
                     * @description When the running window ends and the next begins; of a rolling one, when the oldest hour leaves it.
                     */
                    resetsAt: string | null;
                    /** @description Of an ended window whose final standings are written: which of them the answer is of; 1 is the first. */
                    edition?: number;
                    /** @description true while an act is decided that the newest edition does not show yet. */
                    revising?: boolean;
                };
                /** @description 1-based. */
                rank: number;
                /** @description How many entries the list has. */
                total: number;
                /** @description 100 × (total − rank) / max(1, total − 1); in dense with the competition rank, which ties share too. */
                percentile: number;
                /** @description An IEEE double, bit for bit as it was submitted. */
                score: number;
                columns: {
                    [key: string]: number;
                };
                /**
                 * Format: date-time
                 * @description null only while the database, which alone keeps it, is away.
                 */
                achievedAt: string | null;
                /** @description With `entriesPer: run`: the id of the submission. With the player's it names the row. */
                entryId?: string;
                /** @description On boards that keep runs: whether somebody has looked at the run that the entry rests on; false of sums, and of what is no longer kept as a run. */
                verified?: boolean;
                /**
                 * Format: https-url
                 * @description Of that run, on boards with `proof: everyone`.
                 */
                proof?: string | null;
                /** @description On boards with decay: the score without its tax. */
                rawScore?: number;
                /** @description On boards with decay: the patch as which the run counts. */
                patch?: string;
                /** @description On boards with decay: how many patches that is behind the latest one that the tax knows. */
                patchesBehind?: number;
                /** @enum {string} */
                rankStyle: "ordinal" | "competition" | "dense";
                /** @enum {string} */
                accuracy: "exact";
                /** @description Of the projection; for one name of a list, such as `daily`, it never falls. */
                boardVersion: number;
                /**
                 * Format: date-time
                 * @description The moment that the standing is of, where the window is frozen.
                 */
                frozenAt: string | null;
            }[];
            unavailable: string[];
            /** @description The next cursor. */
            next: string | null;
        };
        Liveness: {
            /** @enum {string} */
            status: "ok";
        };
        Readiness: {
            /** @enum {string} */
            status: "ok" | "missing";
            missing: string[];
            components: {
                postgresql: {
                    /** @enum {string} */
                    state: "ok" | "missing";
                    /**
                     * Format: date-time
                     * @description When this process first saw it so.
                     */
                    since: string;
                    /**
                     * Format: date-time
                     * @description Since when it has not answered at all: writes are refused at once.
                     */
                    awaySince?: string;
                };
                redis: {
                    /** @enum {string} */
                    state: "ok" | "missing" | "refused";
                    /**
                     * Format: date-time
                     * @description When this process first saw it so.
                     */
                    since: string;
                    shards: {
                        /** @enum {string} */
                        state: "ok" | "missing";
                        /**
                         * Format: date-time
                         * @description When this process first saw it so.
                         */
                        since: string;
                        /** @description The slots of the cluster that it serves; `all` for one server. */
                        slots: string;
                    }[];
                    /** @description Why it is refused, and what to do. */
                    reason?: string;
                };
                ranks: {
                    /** @enum {string} */
                    state: "ok" | "recovering";
                    /**
                     * Format: date-time
                     * @description When this process first saw it so.
                     */
                    since: string;
                    lanes?: number[];
                };
                schema?: {
                    /** @enum {string} */
                    state: "ok" | "older" | "newer";
                    /**
                     * Format: date-time
                     * @description When this process first saw it so.
                     */
                    since: string;
                    /** @description The database's last migration; older or newer than this process knows in an upgrade. */
                    version: string;
                };
                kafka?: {
                    /** @enum {string} */
                    state: "ok" | "missing";
                    /**
                     * Format: date-time
                     * @description When this process first saw it so.
                     */
                    since: string;
                };
            };
            notes?: string[];
        };
        PatchDefinition: {
            /**
             * Format: named-id
             * @description It begins with its first patch.
             */
            family: string;
            /**
             * Format: timestamp
             * @description RFC 3339. Ahead: it is published then. Default: as it is, and of a new patch now.
             */
            publishedAt?: string | null;
            /**
             * Format: named-id
             * @description Of a hotfix: the patch of the family as which its runs count. Default: null, itself.
             */
            sameAs?: string | null;
            title?: string | null;
        };
        Patch: {
            /** Format: named-id */
            patch: string;
            /** Format: named-id */
            family: string;
            /**
             * Format: date-time
             * @description When it is published; the order of patches is by this, then by acceptance.
             */
            publishedAt: string;
            /**
             * Format: named-id
             * @description The patch as which it counts; null: itself.
             */
            sameAs: string | null;
            title: string | null;
            /** @description How many patches it is behind the newest; null: not published yet. */
            behind: number | null;
            /** @description How many runs of boards that exist name it. */
            runs: number;
            /**
             * @description retaxing: published, and a board of the family does not show yet what that changed.
             * @enum {string}
             */
            status: "published" | "scheduled" | "retaxing";
        };
        PatchList: {
            /** Format: named-id */
            family: string;
            patches: components["schemas"]["Patch"][];
        };
        BoardTemplateDefinition: {
            id?: string | null;
            definition: {
                title?: string | null;
                /** @enum {string} */
                order: "asc" | "desc";
                /** @enum {string} */
                operator: "best" | "latest" | "sum";
                /** @enum {string|null} */
                tiebreak?: "earliest" | "latest" | "none" | null;
                columns?: {
                    name: string;
                    /** @enum {string} */
                    order: "asc" | "desc";
                }[] | null;
                /** @enum {string|null} */
                rankStyle?: "ordinal" | "competition" | "dense" | null;
                /** @description Whether dense ranks are kept; a rankStyle of dense keeps them, too. */
                dense?: boolean | null;
                windows?: (("alltime" | "daily" | "weekly" | "monthly") | {
                    /** @description The window is `season:<this>`. */
                    season: string;
                    /**
                     * Format: timestamp
                     * @description RFC 3339.
                     */
                    startsAt: string;
                    /**
                     * Format: timestamp
                     * @description RFC 3339. May be moved until the season is over.
                     */
                    endsAt: string;
                    /**
                     * Format: timestamp
                     * @description From then to the end everyone but admins sees the standings of then.
                     */
                    freezeAt?: string | null;
                } | {
                    /** @description `24h`: the last 24 hours. */
                    rolling: string;
                } | {
                    /** @description Minute, hour, day of month, month, day of week: windows last from firing to firing. */
                    cron: string;
                })[] | null;
                /** @description IANA name of the zone whose days the windows follow. */
                timeZone?: string | null;
                scopes?: (("global" | "region" | "guild") | {
                    attribute: string;
                })[] | null;
                sharding?: {
                    /** @enum {string} */
                    by: "hash";
                    /** @description Of the global scope. */
                    count: number;
                } | {
                    /** @enum {string} */
                    by: "range";
                    /** @description Scores, ascending, between the shards of the global scope. A score that is a boundary itself lies in the worse of its two shards. */
                    boundaries: number[];
                } | null;
                limits?: {
                    scoreMin?: number | null;
                    scoreMax?: number | null;
                    /** @description How many entries a running window keeps: the best; up to 5 % more between two trims. */
                    entriesMax?: number | null;
                    /** @description How many runs of a player count in each window. */
                    attemptsMax?: number | null;
                    /** @description An entry goes from the running windows when no run renews it for so long; at least 60. */
                    entryLifetimeSeconds?: number | null;
                    /** @description By the name of a column: the least and the greatest value that a run may have there. */
                    columns?: {
                        [key: string]: {
                            min?: number | null;
                            max?: number | null;
                        } | null;
                    } | null;
                } | null;
                /** @description How late a submission may still enter an ended window. */
                graceSeconds?: number | null;
                /** @description How long an ended window stays in Redis; its standings stay in PostgreSQL. */
                keepEndedSeconds?: number | null;
                snapshot?: {
                    /** @description How many rows of each list are kept. */
                    top?: number | null;
                    /** @description null: none is kept. */
                    keepEveryMinutes?: number | null;
                    keepDays?: number | null;
                } | null;
                retention?: {
                    /** @description null: final standings are kept for ever. */
                    standingsDays?: number | null;
                } | null;
                push?: {
                    intervalMs?: number | null;
                    top?: number | null;
                } | null;
                history?: {
                    /** @description One point of a player and window for each stretch of so many minutes. */
                    everyMinutes?: number | null;
                    /** @description How long points are kept. */
                    keepDays?: number | null;
                } | null;
                /** @description Whether rows say how many places a player moved since yesterday. */
                change?: boolean | null;
                guildAggregate?: {
                    /** @enum {string|null} */
                    kind?: "sum" | "average" | "top" | null;
                    /** @description With `top`: of how many of the best. */
                    k?: number | null;
                    /** @enum {string|null} */
                    onLeave?: "keep" | "takeAway" | null;
                } | null;
                format?: {
                    /** @enum {string|null} */
                    kind?: "number" | "time" | "currency" | null;
                    decimals?: number | null;
                    unit?: string | null;
                } | null;
                /** @enum {string|null} */
                submitters?: "servers" | "players" | null;
                /** @description Of sum boards: with `set` a submission may say that its score is the total from then on. */
                submissionOperators?: ("sum" | "set")[] | null;
                clientTime?: boolean | null;
                /** @description What is examined after runs were accepted, and raises flags; null: nothing. Needs `runs`. */
                integrity?: {
                    /** @description Flags a run that is far better than the runs of its player before it. Not on sum boards. */
                    jump?: {
                        /** @description By how many units a run must be better than the median of the runs before it. */
                        factor?: number | null;
                        /** @description With fewer counted runs before it nothing is flagged. */
                        runsMin?: number | null;
                    } | null;
                    /** @description Flags a player whose runs come too fast. */
                    rate?: {
                        /** @description How many runs of a player within `seconds` raise no flag; the next one does. */
                        runs?: number | null;
                        seconds?: number | null;
                    } | null;
                    /** @description Flags the same score and columns of many players. */
                    cluster?: {
                        /** @description Of how many different players equal runs within `minutes` raise a flag. */
                        players?: number | null;
                        minutes?: number | null;
                    } | null;
                    /** @description Names of the teams' own rules. */
                    rules?: string[] | null;
                    /** @description A run with a better score than this is held until a moderator decides. */
                    holdAbove?: number | null;
                } | null;
                /** @enum {string|null} */
                visibility?: "public" | "private" | null;
                /** @description null: runs are not kept, and cannot be voided or held. */
                runs?: {
                    /** @description How long each run is kept; on boards with a rolling window at least that long and a day. */
                    keepDays?: number | null;
                } | null;
                /**
                 * @description With `run` each counted run is an entry, of a player the best `entriesPerPlayerMax`. Needs `runs` and operator `best`; not with rolling windows, the scope `guild`, `history`, `change` and `entryLifetimeSeconds`.
                 * @enum {string|null}
                 */
                entriesPer?: "player" | "run" | null;
                /** @description With `entriesPer: run`: how many entries of a player stand in a window. Default: 10. */
                entriesPerPlayerMax?: number | null;
                /**
                 * @description Who sees the proof of a run, beside its player.
                 * @enum {string|null}
                 */
                proof?: "moderators" | "everyone" | null;
                /**
                 * @description With `verified` a run is held until it is verified.
                 * @enum {string|null}
                 */
                counts?: "all" | "verified" | null;
                /** @description How runs of older patches are taxed; null: submissions have no patch. Needs operator `best` and a `limits.scoreMin` of 0 or more; not with rolling windows, guilds, `entriesPer: run`, `history`, `change`, `entriesMax` and `entryLifetimeSeconds`. */
                decay?: {
                    /** @description The family of patches. */
                    family: string;
                    /** @description What each patch that a run is behind takes: above 0, at most 1, at most four decimal places. */
                    perPatch: number;
                } | null;
            };
            boards: {
                /** Format: named-id */
                board: string;
                title?: string | null;
                /** @description What is different on this board. Objects are merged part by part, everything else is replaced; null is the default of boards. */
                overrides?: {
                    /** @enum {string} */
                    order?: "asc" | "desc";
                    /** @enum {string} */
                    operator?: "best" | "latest" | "sum";
                    /** @enum {string|null} */
                    tiebreak?: "earliest" | "latest" | "none" | null;
                    columns?: {
                        name: string;
                        /** @enum {string} */
                        order: "asc" | "desc";
                    }[] | null;
                    /** @enum {string|null} */
                    rankStyle?: "ordinal" | "competition" | "dense" | null;
                    /** @description Whether dense ranks are kept; a rankStyle of dense keeps them, too. */
                    dense?: boolean | null;
                    windows?: (("alltime" | "daily" | "weekly" | "monthly") | {
                        /** @description The window is `season:<this>`. */
                        season: string;
                        /**
                         * Format: timestamp
                         * @description RFC 3339.
                         */
                        startsAt: string;
                        /**
                         * Format: timestamp
                         * @description RFC 3339. May be moved until the season is over.
                         */
                        endsAt: string;
                        /**
                         * Format: timestamp
                         * @description From then to the end everyone but admins sees the standings of then.
                         */
                        freezeAt?: string | null;
                    } | {
                        /** @description `24h`: the last 24 hours. */
                        rolling: string;
                    } | {
                        /** @description Minute, hour, day of month, month, day of week: windows last from firing to firing. */
                        cron: string;
                    })[] | null;
                    /** @description IANA name of the zone whose days the windows follow. */
                    timeZone?: string | null;
                    scopes?: (("global" | "region" | "guild") | {
                        attribute: string;
                    })[] | null;
                    sharding?: {
                        /** @enum {string} */
                        by: "hash";
                        /** @description Of the global scope. */
                        count: number;
                    } | {
                        /** @enum {string} */
                        by: "range";
                        /** @description Scores, ascending, between the shards of the global scope. A score that is a boundary itself lies in the worse of its two shards. */
                        boundaries: number[];
                    } | null;
                    limits?: {
                        scoreMin?: number | null;
                        scoreMax?: number | null;
                        /** @description How many entries a running window keeps: the best; up to 5 % more between two trims. */
                        entriesMax?: number | null;
                        /** @description How many runs of a player count in each window. */
                        attemptsMax?: number | null;
                        /** @description An entry goes from the running windows when no run renews it for so long; at least 60. */
                        entryLifetimeSeconds?: number | null;
                        /** @description By the name of a column: the least and the greatest value that a run may have there. */
                        columns?: {
                            [key: string]: {
                                min?: number | null;
                                max?: number | null;
                            } | null;
                        } | null;
                    } | null;
                    /** @description How late a submission may still enter an ended window. */
                    graceSeconds?: number | null;
                    /** @description How long an ended window stays in Redis; its standings stay in PostgreSQL. */
                    keepEndedSeconds?: number | null;
                    snapshot?: {
                        /** @description How many rows of each list are kept. */
                        top?: number | null;
                        /** @description null: none is kept. */
                        keepEveryMinutes?: number | null;
                        keepDays?: number | null;
                    } | null;
                    retention?: {
                        /** @description null: final standings are kept for ever. */
                        standingsDays?: number | null;
                    } | null;
                    push?: {
                        intervalMs?: number | null;
                        top?: number | null;
                    } | null;
                    history?: {
                        /** @description One point of a player and window for each stretch of so many minutes. */
                        everyMinutes?: number | null;
                        /** @description How long points are kept. */
                        keepDays?: number | null;
                    } | null;
                    /** @description Whether rows say how many places a player moved since yesterday. */
                    change?: boolean | null;
                    guildAggregate?: {
                        /** @enum {string|null} */
                        kind?: "sum" | "average" | "top" | null;
                        /** @description With `top`: of how many of the best. */
                        k?: number | null;
                        /** @enum {string|null} */
                        onLeave?: "keep" | "takeAway" | null;
                    } | null;
                    format?: {
                        /** @enum {string|null} */
                        kind?: "number" | "time" | "currency" | null;
                        decimals?: number | null;
                        unit?: string | null;
                    } | null;
                    /** @enum {string|null} */
                    submitters?: "servers" | "players" | null;
                    /** @description Of sum boards: with `set` a submission may say that its score is the total from then on. */
                    submissionOperators?: ("sum" | "set")[] | null;
                    clientTime?: boolean | null;
                    /** @description What is examined after runs were accepted, and raises flags; null: nothing. Needs `runs`. */
                    integrity?: {
                        /** @description Flags a run that is far better than the runs of its player before it. Not on sum boards. */
                        jump?: {
                            /** @description By how many units a run must be better than the median of the runs before it. */
                            factor?: number | null;
                            /** @description With fewer counted runs before it nothing is flagged. */
                            runsMin?: number | null;
                        } | null;
                        /** @description Flags a player whose runs come too fast. */
                        rate?: {
                            /** @description How many runs of a player within `seconds` raise no flag; the next one does. */
                            runs?: number | null;
                            seconds?: number | null;
                        } | null;
                        /** @description Flags the same score and columns of many players. */
                        cluster?: {
                            /** @description Of how many different players equal runs within `minutes` raise a flag. */
                            players?: number | null;
                            minutes?: number | null;
                        } | null;
                        /** @description Names of the teams' own rules. */
                        rules?: string[] | null;
                        /** @description A run with a better score than this is held until a moderator decides. */
                        holdAbove?: number | null;
                    } | null;
                    /** @enum {string|null} */
                    visibility?: "public" | "private" | null;
                    /** @description null: runs are not kept, and cannot be voided or held. */
                    runs?: {
                        /** @description How long each run is kept; on boards with a rolling window at least that long and a day. */
                        keepDays?: number | null;
                    } | null;
                    /**
                     * @description With `run` each counted run is an entry, of a player the best `entriesPerPlayerMax`. Needs `runs` and operator `best`; not with rolling windows, the scope `guild`, `history`, `change` and `entryLifetimeSeconds`.
                     * @enum {string|null}
                     */
                    entriesPer?: "player" | "run" | null;
                    /** @description With `entriesPer: run`: how many entries of a player stand in a window. Default: 10. */
                    entriesPerPlayerMax?: number | null;
                    /**
                     * @description Who sees the proof of a run, beside its player.
                     * @enum {string|null}
                     */
                    proof?: "moderators" | "everyone" | null;
                    /**
                     * @description With `verified` a run is held until it is verified.
                     * @enum {string|null}
                     */
                    counts?: "all" | "verified" | null;
                    /** @description How runs of older patches are taxed; null: submissions have no patch. Needs operator `best` and a `limits.scoreMin` of 0 or more; not with rolling windows, guilds, `entriesPer: run`, `history`, `change`, `entriesMax` and `entryLifetimeSeconds`. */
                    decay?: {
                        /** @description The family of patches. */
                        family: string;
                        /** @description What each patch that a run is behind takes: above 0, at most 1, at most four decimal places. */
                        perPatch: number;
                    } | null;
                } | null;
            }[];
        };
        BoardTemplate: {
            /** Format: named-id */
            id: string;
            /** @description As it was put, without defaults: what its boards have in common. */
            definition: Record<string, unknown>;
            boards: {
                /** Format: named-id */
                board: string;
                title: string | null;
                /** @description What the template says of this board alone. */
                overrides: Record<string, unknown>;
            }[];
            /** @description Boards that were changed by hand, and differ from the template. */
            byHand: {
                /** Format: named-id */
                board: string;
                /** @description What differs from what the template says. */
                overrides: Record<string, unknown>;
            }[];
        };
        BoardTemplateList: {
            templates: {
                /** Format: named-id */
                id: string;
                /** @description As it was put, without defaults: what its boards have in common. */
                definition: Record<string, unknown>;
                /** @description How many boards it names. */
                boardCount: number;
            }[];
            /** @description The next cursor. */
            next: string | null;
        };
        BoardTemplateOutcome: {
            dryRun: boolean;
            /** @description In the order of the boards that were sent. A board with a problem is as it was. */
            results: ({
                /** Format: named-id */
                board: string;
                /** @enum {string} */
                status: "created" | "updated" | "unchanged";
            } | {
                /** Format: named-id */
                board: string;
                /** @enum {string} */
                status: "problem";
                problem: components["schemas"]["Problem"];
            })[];
            /** @description Boards that the template names no longer: they stay as they are, and are of no template. */
            released: string[];
        };
        PoolDefinition: {
            id?: string | null;
            title?: string | null;
            /** @description elo, fide, glicko2, weng-lin, or another that the service knows: 422 ALGORITHM_UNKNOWN names them. */
            algorithm: string;
            /** @description Those of the algorithm; what is left out has its default. */
            parameters?: Record<string, unknown> | null;
            /** @enum {string|null} */
            update?: "per-game" | "per-period" | null;
            /** @description Of the update per-period alone: when ratings move. */
            periods?: {
                /** @enum {string|null} */
                every?: "daily" | "weekly" | "monthly" | null;
                /** @description IANA; default: UTC. */
                timeZone?: string | null;
                /** @description So long after its end a period still takes games; then it closes, and ratings move. Default: 86400. */
                graceSeconds?: number | null;
            } | null;
            sides?: {
                min?: number | null;
                max?: number | null;
                /** @description The most members of a side. */
                teamMax?: number | null;
            } | null;
            results?: {
                /** @enum {string|null} */
                disqualified?: "last" | "unrated" | null;
                /** @enum {string|null} */
                absent?: "last" | "unrated" | null;
            } | null;
            provisional?: {
                /** @description Who has fewer games is provisional. */
                games?: number | null;
                deviationAbove?: number | null;
            } | null;
            rankable?: {
                gamesMin?: number | null;
                deviationMax?: number | null;
                inactiveDaysMax?: number | null;
            } | null;
            history?: {
                /** @description How long changes of ratings are kept; null (default): for ever. A void of an older game is refused. */
                keepDays?: number | null;
            } | null;
            /** @enum {string|null} */
            onVoid?: "recompute" | "refund" | "keep" | null;
            /** @description Short for one of boards, of the value rating. */
            board?: string | null;
            /** @description The boards that the pool feeds, instead of submissions. */
            boards?: {
                board: string;
                /** @enum {string} */
                value: "rating" | "conservative" | "peak" | "gain" | "games" | "wins";
                /** @description What goes into which column of the board: deviation, games, wins, winRate, peak. */
                columns?: Record<string, unknown> | null;
            }[] | null;
            /** @enum {string|null} */
            visibility?: "public" | "private" | null;
        };
        Pool: {
            /** Format: named-id */
            id: string;
            title: string | null;
            /** @description Such as elo. */
            algorithm: string;
            /** @description All of the algorithm. */
            parameters: Record<string, unknown>;
            /** @enum {string} */
            update: "per-game" | "per-period";
            /** @description null: ratings move with each game. */
            periods: {
                /** @enum {string} */
                every: "daily" | "weekly" | "monthly";
                /** @description IANA. */
                timeZone: string;
                /** @description So long after its end a period still takes games; then it closes, and ratings move. */
                graceSeconds: number;
            } | null;
            sides: {
                /** @description The least sides of a game. */
                min: number;
                /** @description The most. */
                max: number;
                /** @description The most members of a side. */
                teamMax: number;
            };
            results: {
                /** @enum {string} */
                disqualified: "last" | "unrated";
                /** @enum {string} */
                absent: "last" | "unrated";
            };
            provisional: {
                games: number | null;
                deviationAbove: number | null;
            } | null;
            rankable: {
                gamesMin: number | null;
                deviationMax: number | null;
                inactiveDaysMax: number | null;
            } | null;
            /**
             * @description What a void does where it does not say.
             * @enum {string}
             */
            onVoid: "recompute" | "refund" | "keep";
            history: {
                /** @description How long changes are kept; null: for ever. */
                keepDays: number | null;
            };
            /** @description The boards that the pool feeds. */
            boards: {
                /** Format: named-id */
                board: string;
                /** @enum {string} */
                value: "rating" | "conservative" | "peak" | "gain" | "games" | "wins";
                columns: {
                    [key: string]: "deviation" | "games" | "wins" | "winRate" | "peak";
                };
            }[];
            /** @enum {string} */
            visibility: "public" | "private";
        };
        PoolState: {
            /** Format: named-id */
            id: string;
            title: string | null;
            /** @description Such as elo. */
            algorithm: string;
            /** @description All of the algorithm. */
            parameters: Record<string, unknown>;
            /** @enum {string} */
            update: "per-game" | "per-period";
            /** @description null: ratings move with each game. */
            periods: {
                /** @enum {string} */
                every: "daily" | "weekly" | "monthly";
                /** @description IANA. */
                timeZone: string;
                /** @description So long after its end a period still takes games; then it closes, and ratings move. */
                graceSeconds: number;
            } | null;
            sides: {
                /** @description The least sides of a game. */
                min: number;
                /** @description The most. */
                max: number;
                /** @description The most members of a side. */
                teamMax: number;
            };
            results: {
                /** @enum {string} */
                disqualified: "last" | "unrated";
                /** @enum {string} */
                absent: "last" | "unrated";
            };
            provisional: {
                games: number | null;
                deviationAbove: number | null;
            } | null;
            rankable: {
                gamesMin: number | null;
                deviationMax: number | null;
                inactiveDaysMax: number | null;
            } | null;
            /**
             * @description What a void does where it does not say.
             * @enum {string}
             */
            onVoid: "recompute" | "refund" | "keep";
            history: {
                /** @description How long changes are kept; null: for ever. */
                keepDays: number | null;
            };
            /** @description The boards that the pool feeds. */
            boards: {
                /** Format: named-id */
                board: string;
                /** @enum {string} */
                value: "rating" | "conservative" | "peak" | "gain" | "games" | "wins";
                columns: {
                    [key: string]: "deviation" | "games" | "wins" | "winRate" | "peak";
                };
            }[];
            /** @enum {string} */
            visibility: "public" | "private";
            /** @description Of the last game that was rated; 0 before the first. */
            ratedPosition: number;
            /** @description Games that are recorded and not rated yet. */
            pending: number;
            /** @description With a rated game. */
            players: number;
            /** @description That were recorded. */
            games: number;
            /** @description Points that voids gave back, all together: they were not in the pool before. */
            refunded: number;
            /**
             * Format: date-time
             * @description Changes by games that were played before are not all kept; null: all are.
             */
            historyFrom: string | null;
            /** @description The running one; null where ratings move with each game. */
            period: {
                /** @description Such as monthly:2026-11. */
                period: string;
                /** Format: date-time */
                startsAt: string;
                /** Format: date-time */
                endsAt: string;
                /**
                 * Format: date-time
                 * @description When its games are rated: the end and the grace.
                 */
                closesAt: string;
            } | null;
        };
        PoolList: {
            pools: components["schemas"]["Pool"][];
            /** @description The next cursor. */
            next: string | null;
        };
        Game: {
            /**
             * Format: opaque-id
             * @description Makes retries safe: unique in its pool, and remembered as long as the game. Default: a new one.
             */
            gameId?: string;
            /** Format: named-id */
            pool: string;
            /**
             * Format: timestamp
             * @description RFC 3339; default: now, by the database.
             */
            playedAt?: string;
            /** @description Multiplies K. Default 1. */
            weight?: number;
            /** @description At most 500, on as many sides as the pool takes. */
            players: {
                /** Format: opaque-id */
                playerId: string;
                /** @description 1 is best; equal places are a draw; only the order counts. Of those who played, and only of them. */
                place?: number;
                /**
                 * Format: opaque-id
                 * @description Who play together have one team and one place; without, the player is a side.
                 */
                team?: string;
                /** @description Adds the pool's homeAdvantage to the side for this game. Default false. */
                home?: boolean;
                /**
                 * @description disqualified: sent off; absent: did not show up. Default played.
                 * @enum {string}
                 */
                status?: "played" | "disqualified" | "absent";
                /** @description Kept and shown; it rates nothing. */
                score?: number;
            }[];
            /** @description At most 1,024 bytes of JSON. */
            metadata?: Record<string, unknown>;
        };
        GameOrGames: components["schemas"]["Game"] | {
            /** @description One that is not well formed fails alone: its result is a problem. */
            games: components["schemas"]["Game"][];
        };
        GameResult: {
            gameId: string;
            pool: string;
            /** @enum {string} */
            outcome: "recorded";
            /** @description true: this gameId was recorded before, with the same body. */
            replayed: boolean;
            /** @description The game's place in the pool's order. */
            position: number;
            /** @description With `Prefer: wait`, what it did; null while it is not rated, or nobody waited. */
            rated: {
                /** @description The game's place in the pool's order. */
                position: number;
                players: {
                    playerId: string;
                    before: number;
                    after: number;
                    /** @description after − before. */
                    delta: number;
                    /** @description The score that was expected of the player's side, 0-1; of more than two sides the mean over pairs. */
                    expected: number;
                    /** @description Points of a whole surprise, without the game's weight. */
                    k: number | null;
                    /** @description On the board that shows the pool's ratings; null: no entry there, or nothing can be said now. */
                    rank: components["schemas"]["RankMovement"] | null;
                }[];
            } | {
                /** @description The game's place in the pool's order. */
                position: number;
                players: {
                    playerId: string;
                    before: number;
                    after: number;
                    /** @description after − before. */
                    delta: number;
                    /** @description The score that was expected of the player's side, 0-1; of more than two sides the mean over pairs. */
                    expected: number;
                    /** @description Points of a whole surprise, without the game's weight. */
                    k: number | null;
                }[];
                /**
                 * @description What it did is kept no longer: `history.keepDays` of the pool.
                 * @constant
                 */
                gone: true;
            } | {
                /**
                 * @description Why it moves nobody: fewer than two sides played, its numbers would not be finite, or it is void.
                 * @enum {string}
                 */
                reason: "TOO_FEW_SIDES" | "NUMERIC" | "VOID";
            } | null;
        };
        GameResultOrResults: components["schemas"]["GameResult"] | {
            results: (components["schemas"]["GameResult"] | {
                problem: components["schemas"]["Problem"];
            })[];
        };
        RecordedGame: {
            gameId: string;
            pool: string;
            /** @description The game's place in the pool's order. */
            position: number;
            /** Format: date-time */
            playedAt: string;
            /** Format: date-time */
            recordedAt: string;
            weight: number;
            players: {
                playerId: string;
                /** @description null for those who did not play. */
                place: number | null;
                team: string | null;
                home: boolean;
                /** @enum {string} */
                status: "played" | "disqualified" | "absent";
                score: number | null;
            }[];
            metadata: Record<string, unknown> | null;
            /**
             * @description What its void does; null: it counts.
             * @enum {string|null}
             */
            voided: "recompute" | "refund" | "keep" | null;
            /** @description What it did; null while it is not rated. */
            rated: {
                /** @description The game's place in the pool's order. */
                position: number;
                players: {
                    playerId: string;
                    before: number;
                    after: number;
                    /** @description after − before. */
                    delta: number;
                    /** @description The score that was expected of the player's side, 0-1; of more than two sides the mean over pairs. */
                    expected: number;
                    /** @description Points of a whole surprise, without the game's weight. */
                    k: number | null;
                }[];
            } | {
                /** @description The game's place in the pool's order. */
                position: number;
                players: {
                    playerId: string;
                    before: number;
                    after: number;
                    /** @description after − before. */
                    delta: number;
                    /** @description The score that was expected of the player's side, 0-1; of more than two sides the mean over pairs. */
                    expected: number;
                    /** @description Points of a whole surprise, without the game's weight. */
                    k: number | null;
                }[];
                /**
                 * @description What it did is kept no longer: `history.keepDays` of the pool.
                 * @constant
                 */
                gone: true;
            } | {
                /**
                 * @description Why it moves nobody: fewer than two sides played, its numbers would not be finite, or it is void.
                 * @enum {string}
                 */
                reason: "TOO_FEW_SIDES" | "NUMERIC" | "VOID";
            } | null;
        };
        GamesPage: {
            games: components["schemas"]["RecordedGame"][];
            /** @description The next cursor. */
            next: string | null;
        };
        PlayerRating: {
            pool: string;
            playerId: string;
            rating: number;
            /** @description As of now; null where the algorithm has none. */
            deviation: number | null;
            /** @description After the last game. */
            storedDeviation: number | null;
            volatility: number | null;
            /** @description What the player has at least, with great likelihood; with elo the rating. */
            conservative: number;
            interval95: number[] | null;
            games: number;
            /** @description First places of games with more than two sides, too. */
            wins: number;
            /** @description Of two sides only. */
            draws: number;
            losses: number;
            provisional: boolean;
            peak: {
                rating: number;
                /** Format: date-time */
                at: string;
                gameId: string;
            } | null;
            /** Format: date-time */
            lastPlayedAt: string | null;
            rankable: boolean;
            missing: string[];
            /**
             * Format: date-time
             * @description If the player stays away; null: for ever, or not even now.
             */
            rankableUntil: string | null;
            /** @description Of the last game that changed it. */
            position: number;
            /** @description Games of the pool that are recorded and not rated yet. */
            pending: number;
            /** Format: date-time */
            asOf: string;
        };
        RatingLookup: {
            playerIds: string[];
        };
        RatingsLookup: {
            ratings: (components["schemas"]["PlayerRating"] | null)[];
        };
        GameOrSplit: {
            /** @description Who would play together. Nobody is named twice; a player without games is as a newcomer. */
            sides: string[][];
        } | {
            /** @description At most 12, nobody twice. */
            players: string[];
            /** @description How many players a side has; they must make two or more whole sides. */
            sidesOf: number;
        };
        Prediction: {
            win: number[];
            /** @description How likely a draw is; null where the algorithm has none. */
            draw: number | null;
            /** @description nⁿ·∏win: 1 where all are equally likely to win, 0 where it is decided. */
            quality: number;
        } | {
            sides: string[][];
            win: number[];
            /** @description How likely a draw is; null where the algorithm has none. */
            draw: number | null;
            /** @description nⁿ·∏win: 1 where all are equally likely to win, 0 where it is decided. */
            quality: number;
        };
        RatingDistribution: {
            pool: string;
            /** @description With a rated game, listed or not. */
            players: number;
            /** @description Of all ratings. */
            sum: number;
            mean: number | null;
            median: number | null;
            /** @description Whose last game was played within the last seven days. */
            active: number;
            /** @description Whose first game was, too. */
            newcomers: number;
            /** @description In points: 25, less where ratings are closer together, more where 400 buckets would not do. */
            bucketWidth: number;
            histogram: {
                /** @description The lowest rating of the bucket. */
                from: number;
                players: number;
            }[];
            /** @description Of the last game that is in it. */
            ratedPosition: number;
            /**
             * Format: date-time
             * @description When it was computed.
             */
            asOf: string;
        };
        RatingHistory: {
            pool: string;
            playerId: string;
            changes: {
                /**
                 * @description recomputed: after a correction of an earlier game; refund: points lost in the game, given back when it was made void.
                 * @enum {string}
                 */
                kind: "game" | "recomputed" | "refund";
                gameId: string;
                /** @description The game's place in the pool's order. */
                position: number;
                /** Format: date-time */
                playedAt: string;
                before: number;
                after: number;
                /** @description after − before. */
                delta: number;
                /** @description The score that was expected of the player's side, 0-1; of more than two sides the mean over pairs. null of a refund. */
                expected: number | null;
                /** @description Points of a whole surprise, without the game's weight. */
                k: number | null;
                /**
                 * @description null of a refund.
                 * @enum {string|null}
                 */
                outcome: "win" | "draw" | "loss" | null;
                /** @description What computed it, with its version, such as elo@1. */
                engine: string;
                /** @description The position of the correction after which it was computed again. */
                recomputedBy: number | null;
                opponents: string[];
            }[];
            /** @description The next cursor. */
            next: string | null;
        };
        Restatement: {
            /** @description Why; the audit log has it, and the edition that follows. */
            reason?: string;
        };
        RestatedStandings: {
            board: string;
            window: string;
            /** @description Which feeds the board. */
            pool: string;
            /**
             * @description unchanged: the standings said already what the pool says; restating: it goes on.
             * @enum {string}
             */
            outcome: "restated" | "unchanged" | "restating";
            /** @description Players of the pool that were looked at. */
            playersRead: number;
            /** @description How many differ, parts that guilds keep of leavers among them; null: not known yet. */
            entries: number | null;
            /** @description The newest of the window. */
            edition: number | null;
        };
        GameVoid: {
            reason: string;
            /**
             * @description recompute: as if the game had never been; refund: opponents get back what they lost in it; keep: only a mark. Left out: what `onVoid` of the pool says.
             * @enum {string}
             */
            mode?: "recompute" | "refund" | "keep";
        };
        Voids: {
            /**
             * Format: opaque-id
             * @description Who played in them.
             */
            playerId?: string;
            /**
             * Format: timestamp
             * @description Played at this time or later.
             */
            from?: string;
            /**
             * Format: timestamp
             * @description Played before this time.
             */
            to?: string;
            /** @description These games. */
            gameIds?: string[];
            reason: string;
            /**
             * @description recompute: as if the game had never been; refund: opponents get back what they lost in it; keep: only a mark. Left out: what `onVoid` of the pool says.
             * @enum {string}
             */
            mode?: "recompute" | "refund" | "keep";
        };
        GameCorrection: {
            /** @description As if the game were recorded anew: who played, and how. */
            players: {
                /** Format: opaque-id */
                playerId: string;
                /** @description 1 is best; equal places are a draw; only the order counts. Of those who played, and only of them. */
                place?: number;
                /**
                 * Format: opaque-id
                 * @description Who play together have one team and one place; without, the player is a side.
                 */
                team?: string;
                /** @description Adds the pool's homeAdvantage to the side for this game. Default false. */
                home?: boolean;
                /**
                 * @description disqualified: sent off; absent: did not show up. Default played.
                 * @enum {string}
                 */
                status?: "played" | "disqualified" | "absent";
                /** @description Kept and shown; it rates nothing. */
                score?: number;
            }[];
            reason: string;
        };
        Correction: {
            /** @description That were corrected. */
            games: number;
            players: {
                playerId: string;
                before: number;
                after: number;
                /** @description after − before. */
                delta: number;
            }[] | null;
        };
        DeadLetter: {
            id: string;
            /** @description Whose handler it failed in: a consumer group, kafka-relay, in.scores or in.games. */
            group: string;
            topic: string;
            /** @description The lane; of in.scores and in.games the partition. */
            lane: number;
            /** @description The log position; of in.scores and in.games the offset. */
            position: number;
            key: string;
            /** @description At most 8,192 characters of it. */
            payload: string;
            isPayloadCut: boolean;
            /** @description The error with its stack; of in.scores and in.games the problem, as JSON. */
            cause: string;
            /** Format: date-time */
            parkedAt: string;
            /**
             * Format: date-time
             * @description null: never.
             */
            replayedAt: string | null;
        };
        DeadLetterList: {
            deadLetters: components["schemas"]["DeadLetter"][];
            /** @description The next cursor. */
            next: string | null;
        };
        DeadLetterReplay: {
            id: string;
            /**
             * @description replayed: what is now went into the log, or the submission counts; obsolete: what it was about is gone; refused: the submission is refused still.
             * @enum {string}
             */
            outcome: "replayed" | "obsolete" | "refused";
            problem?: components["schemas"]["Problem"];
        };
        SettlementFailure: {
            board: string;
            window: string;
            /**
             * @description The standings of its end, of its freeze, or of how it stood a moment ago (`snapshot.keepEveryMinutes`).
             * @enum {string}
             */
            kind: "final" | "frozen" | "kept";
            /**
             * Format: date-time
             * @description null: it is open.
             */
            closedAt: string | null;
            /** @description How many tries have failed in a row. */
            failures: number;
            /** @description Why the last one did. */
            error: string;
            /** Format: date-time */
            failedAt: string;
            /**
             * Format: date-time
             * @description When the next one is due.
             */
            retryAt: string;
        };
        SettlementFailureList: {
            settlementFailures: components["schemas"]["SettlementFailure"][];
            /** @description The next cursor. */
            next: string | null;
        };
        Rebuild: {
            /**
             * @description none: it was never asked for.
             * @enum {string}
             */
            state: "none" | "running" | "finished";
            /** Format: date-time */
            requestedAt: string | null;
            /** Format: date-time */
            finishedAt: string | null;
            /** @description How many boards it is for. */
            boards: number;
            /** @description How many of them serve from new lists. */
            done: number;
            underWay: {
                board: string;
                generation: number;
                /** @enum {string} */
                state: "filling" | "proving";
                entriesRead: number;
            }[];
        };
        Reconciliation: {
            board: string;
            /** @enum {string} */
            state: "none" | "waiting" | "running" | "finished" | "failed";
            /** Format: date-time */
            requestedAt: string | null;
            /** Format: date-time */
            startedAt: string | null;
            /** Format: date-time */
            finishedAt: string | null;
            report: {
                /** @description Windows that were compared. */
                windows: number;
                /** @description Lists that were looked through. */
                lists: number;
                /** @description Entries that were compared, in both directions. */
                compared: number;
                /** @description Entries that a list did not have. */
                missing: number;
                /** @description Entries that a list had otherwise. */
                stale: number;
                /** @description Entries that a list had and PostgreSQL has not. */
                stray: number;
                /** @description Distinct values that were missing, or too many. */
                values: number;
                /** @description Shards whose counter was missing, or too low. */
                counters: number;
                /** @description Entries that changed all the while; their next change puts them right. */
                unsettled: number;
                examples: {
                    window: string;
                    scope: string;
                    playerId: string;
                    /** @description With `entriesPer: run`: the id of the submission. */
                    entryId?: string;
                    /** @enum {string} */
                    kind: "missing" | "stale" | "stray";
                }[];
                /** @description Why it ended early. */
                failure: string | null;
            };
        };
        Flag: {
            flagId: string;
            /** @description jump, rate, cluster, held, or the name of a rule or check of a team. */
            rule: string;
            /** @enum {string} */
            severity: "low" | "medium" | "high";
            board: string;
            /** @description null: it is about several players. */
            playerId: string | null;
            /** @description Of the first 100 runs. */
            submissionIds: string[];
            /** @description How many runs it is about, listed or not. */
            count: number;
            summary: string;
            details: Record<string, unknown>;
            /** Format: date-time */
            raisedAt: string;
            /** @enum {string} */
            state: "open" | "decided";
            /**
             * @description Of an open flag: what was decided before it was reopened, and stands until it is decided anew.
             * @enum {string|null}
             */
            decision: "accept" | "void" | "ban" | "dismiss" | null;
            /** @description A key, or clock. */
            decidedBy: string | null;
            /** Format: date-time */
            decidedAt: string | null;
            reason: string | null;
        };
        FlagPage: {
            flags: components["schemas"]["Flag"][];
            /** @description The next cursor. */
            next: string | null;
        };
        FlagDecision: {
            /** @enum {string} */
            decision: "accept" | "void" | "ban" | "dismiss" | "reopen";
            reason: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    submitScore: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The submissionId, when the body has none; not both and different. 1-128 characters of ASCII.
                 * @example b1c0ffee
                 */
                "Idempotency-Key"?: string;
                /**
                 * @description `wait=N`: wait up to N seconds (at most 10) until this submission is projected in the list that `rank` is of, for an exact rank.
                 * @example wait=1
                 */
                Prefer?: string;
            };
            path: {
                /**
                 * @description The id of the board.
                 * @example blitz
                 */
                board: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Submission"];
            };
        };
        responses: {
            /** @description The score counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "submissionId": "b1c0ffee",
                     *       "board": "blitz",
                     *       "playerId": "ada",
                     *       "outcome": "created",
                     *       "replayed": false,
                     *       "score": 1520,
                     *       "previousScore": null,
                     *       "version": 48213,
                     *       "windows": [
                     *         "daily:2026-11-20",
                     *         "alltime"
                     *       ],
                     *       "rank": {
                     *         "before": null,
                     *         "after": 17,
                     *         "delta": null,
                     *         "accuracy": "estimated",
                     *         "errorBound": 3,
                     *         "total": 1042,
                     *         "asOf": "2026-11-20T18:00:00.012Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SubmissionResult"];
                };
            };
        };
    };
    submitScores: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description `wait=N`: wait up to N seconds (at most 10) until this submission is projected in the list that `rank` is of, for an exact rank.
                 * @example wait=1
                 */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SubmissionBatch"];
            };
        };
        responses: {
            /** @description Each item has its result or its problem. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "results": [
                     *         {
                     *           "submissionId": "b1c0ffee",
                     *           "board": "blitz",
                     *           "playerId": "ada",
                     *           "outcome": "created",
                     *           "replayed": false,
                     *           "score": 1520,
                     *           "previousScore": null,
                     *           "version": 48213,
                     *           "windows": [
                     *             "daily:2026-11-20",
                     *             "alltime"
                     *           ],
                     *           "rank": {
                     *             "before": null,
                     *             "after": 17,
                     *             "delta": null,
                     *             "accuracy": "estimated",
                     *             "errorBound": 3,
                     *             "total": 1042,
                     *             "asOf": "2026-11-20T18:00:00.012Z"
                     *           }
                     *         },
                     *         {
                     *           "problem": {
                     *             "type": "urn:laddercast:problem:BOARD_NOT_FOUND",
                     *             "title": "There is no such board",
                     *             "status": 404,
                     *             "detail": "There is no board \"sprint\".",
                     *             "instance": "/v1/scores#/submissions/1",
                     *             "code": "BOARD_NOT_FOUND"
                     *           }
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["SubmissionResults"];
                };
            };
        };
    };
    getBoard: {
        parameters: {
            query?: never;
            header?: {
                /** @description Answer 304 if the ETag is still this one. */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description The id of the board.
                 * @example blitz
                 */
                board: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The definition with every default filled in. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "blitz",
                     *       "template": null,
                     *       "title": "Ranked blitz",
                     *       "order": "desc",
                     *       "operator": "best",
                     *       "tiebreak": "earliest",
                     *       "columns": [
                     *         {
                     *           "name": "moves",
                     *           "order": "asc"
                     *         }
                     *       ],
                     *       "rankStyle": "ordinal",
                     *       "windows": [
                     *         "alltime",
                     *         "daily"
                     *       ],
                     *       "timeZone": "UTC",
                     *       "scopes": [
                     *         "global"
                     *       ],
                     *       "sharding": {
                     *         "by": "hash",
                     *         "count": 1
                     *       },
                     *       "dense": false,
                     *       "limits": {
                     *         "scoreMin": 0,
                     *         "scoreMax": 1000000000,
                     *         "entriesMax": null,
                     *         "attemptsMax": null,
                     *         "entryLifetimeSeconds": null,
                     *         "columns": {}
                     *       },
                     *       "graceSeconds": 300,
                     *       "keepEndedSeconds": 90000,
                     *       "snapshot": {
                     *         "top": 1000,
                     *         "keepEveryMinutes": null,
                     *         "keepDays": 30
                     *       },
                     *       "retention": {
                     *         "standingsDays": null
                     *       },
                     *       "push": {
                     *         "intervalMs": 100,
                     *         "top": 100
                     *       },
                     *       "history": null,
                     *       "change": false,
                     *       "format": {
                     *         "kind": "number",
                     *         "decimals": 0,
                     *         "unit": null
                     *       },
                     *       "guildAggregate": {
                     *         "kind": "sum",
                     *         "k": null,
                     *         "onLeave": "takeAway"
                     *       },
                     *       "submitters": "servers",
                     *       "submissionOperators": null,
                     *       "clientTime": false,
                     *       "integrity": null,
                     *       "visibility": "public",
                     *       "runs": null,
                     *       "entriesPer": "player",
                     *       "entriesPerPlayerMax": null,
                     *       "proof": "moderators",
                     *       "counts": "all",
                     *       "decay": null
                     *     }
                     */
                    "application/json": components["schemas"]["Board"];
                };
            };
        };
    };
    getPlayer: {
        parameters: {
            query?: {
                /** @description Neighbours above and below. Default 5. */
                around?: number;
                /** @description Neighbours above, instead of around. */
                above?: number;
                /** @description Neighbours below, instead of around. */
                below?: number;
                /** @description `last`: for a player without entry, the end of the list instead of 404. */
                fallback?: "last";
                /** @description `1`: on boards with decay, with the runs of the player that stand or can stand again. */
                runs?: "1";
                /** @description exact: counted; estimated: by the sketch of the list, with an `errorBound`. */
                accuracy?: "exact" | "estimated";
                /** @description `daily` is the running one, `daily:2026-11-20` that one. Default: alltime, or the first of the board. */
                window?: string;
                /** @description `global`, or one of the board: `region:EU`, `guild:red`, `country:US`. */
                scope?: string;
                /** @description RFC 3339: as the board stood then, where it keeps that (`snapshot.keepEveryMinutes`); else 410 SNAPSHOT_GONE. */
                asOf?: string;
                /** @description The final standings of an ended window as that edition: 1 is the first. Those before the last are for keys with the scope moderate. */
                edition?: number;
                /** @description ordinal 1234, competition 1224, dense 1223 (on boards that keep it). Default: what the board says. */
                rankStyle?: "ordinal" | "competition" | "dense";
                /** @description A boardVersion that was seen: nothing older is answered; waits up to 1 s, then 503 PROJECTION_BEHIND. */
                minVersion?: number;
                /** @description `player`: rows show the face of their player, too: avatar, region, attributes, as they are now. */
                fields?: "player"[];
            };
            header?: {
                /** @description Answer 304 if the ETag is still this one. */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description The id of the board.
                 * @example blitz
                 */
                board: string;
                /**
                 * @description Percent-encoded UTF-8; `me` is the player of the caller's token.
                 * @example São Tomé
                 */
                player: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The entry, and the neighbours in order, the player included. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "board": "blitz",
                     *       "window": {
                     *         "id": "alltime",
                     *         "startsAt": null,
                     *         "endsAt": null,
                     *         "resetsAt": null
                     *       },
                     *       "scope": "global",
                     *       "total": 1042,
                     *       "boardVersion": 5120,
                     *       "asOf": "2026-11-20T18:00:01.000Z",
                     *       "rankStyle": "ordinal",
                     *       "accuracy": "exact",
                     *       "entry": {
                     *         "rank": 17,
                     *         "playerId": "ada",
                     *         "displayName": null,
                     *         "score": 1520,
                     *         "columns": {
                     *           "moves": 31
                     *         },
                     *         "achievedAt": "2026-11-20T18:00:00.000Z",
                     *         "metadata": {
                     *           "replay": "r-77"
                     *         },
                     *         "percentile": 98.463,
                     *         "accuracy": "exact"
                     *       },
                     *       "neighbours": [
                     *         {
                     *           "rank": 17,
                     *           "playerId": "ada",
                     *           "displayName": null,
                     *           "score": 1520,
                     *           "columns": {
                     *             "moves": 31
                     *           },
                     *           "achievedAt": "2026-11-20T18:00:00.000Z",
                     *           "metadata": {
                     *             "replay": "r-77"
                     *           }
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["PlayerRank"];
                };
            };
        };
    };
    getEntries: {
        parameters: {
            query?: {
                /** @description `replica`: a page by offset may be read from a replica of Redis, where the service has one. It is `estimated` then: off by nothing but its `errorBound` as of its `boardVersion`, which is that of a moment ago, and never below `minVersion` or what the same process answered before to who asked so. Else the page is as without it. */
                from?: "replica";
                /** @description Default 50. */
                limit?: number;
                /** @description 0-based. */
                offset?: number;
                /** @description The `next` of the page before; of entries and guilds `start`, and then the paths in `next` and `prev`. */
                cursor?: string;
                /** @description The page with this place in its middle: 1 is the best entry, whatever the rankStyle. */
                aroundRank?: number;
                /** @description The page with the first entry in its middle that is not better than this JSON number. */
                aroundScore?: number;
                /** @description The page with this player in its middle, of guilds with this guild; `me` is the player of the token. */
                aroundPlayer?: string;
                /** @description `daily` is the running one, `daily:2026-11-20` that one. Default: alltime, or the first of the board. */
                window?: string;
                /** @description `global`, or one of the board: `region:EU`, `guild:red`, `country:US`. */
                scope?: string;
                /** @description RFC 3339: as the board stood then, where it keeps that (`snapshot.keepEveryMinutes`); else 410 SNAPSHOT_GONE. */
                asOf?: string;
                /** @description The final standings of an ended window as that edition: 1 is the first. Those before the last are for keys with the scope moderate. */
                edition?: number;
                /** @description ordinal 1234, competition 1224, dense 1223 (on boards that keep it). Default: what the board says. */
                rankStyle?: "ordinal" | "competition" | "dense";
                /** @description A boardVersion that was seen: nothing older is answered; waits up to 1 s, then 503 PROJECTION_BEHIND. */
                minVersion?: number;
                /** @description `player`: rows show the face of their player, too: avatar, region, attributes, as they are now. */
                fields?: "player"[];
            };
            header?: {
                /** @description Answer 304 if the ETag is still this one. */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description The id of the board.
                 * @example blitz
                 */
                board: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page, the best first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "board": "blitz",
                     *       "window": {
                     *         "id": "alltime",
                     *         "startsAt": null,
                     *         "endsAt": null,
                     *         "resetsAt": null
                     *       },
                     *       "scope": "global",
                     *       "total": 1042,
                     *       "boardVersion": 5120,
                     *       "asOf": "2026-11-20T18:00:01.000Z",
                     *       "rankStyle": "ordinal",
                     *       "accuracy": "exact",
                     *       "entries": [
                     *         {
                     *           "rank": 17,
                     *           "playerId": "ada",
                     *           "displayName": null,
                     *           "score": 1520,
                     *           "columns": {
                     *             "moves": 31
                     *           },
                     *           "achievedAt": "2026-11-20T18:00:00.000Z",
                     *           "metadata": {
                     *             "replay": "r-77"
                     *           }
                     *         }
                     *       ],
                     *       "next": "/v1/boards/blitz/entries?window=alltime&limit=1&offset=17",
                     *       "prev": "/v1/boards/blitz/entries?window=alltime&limit=1&offset=15"
                     *     }
                     */
                    "application/json": components["schemas"]["EntriesPage"];
                };
            };
        };
    };
    getRankOfScore: {
        parameters: {
            query: {
                /** @description A JSON number. */
                score: number;
                /** @description On boards with decay: of which patch the run is; without it the score is taken as a taxed one. */
                patch?: string;
                /** @description `columns.moves=31`: one parameter for each extra column; those left out are taken as the worst there are. */
                columns?: {
                    [key: string]: number;
                };
                /** @description exact: counted; estimated: by the sketch of the list, with an `errorBound`. */
                accuracy?: "exact" | "estimated";
                /** @description `daily` is the running one, `daily:2026-11-20` that one. Default: alltime, or the first of the board. */
                window?: string;
                /** @description `global`, or one of the board: `region:EU`, `guild:red`, `country:US`. */
                scope?: string;
                /** @description RFC 3339: as the board stood then, where it keeps that (`snapshot.keepEveryMinutes`); else 410 SNAPSHOT_GONE. */
                asOf?: string;
                /** @description The final standings of an ended window as that edition: 1 is the first. Those before the last are for keys with the scope moderate. */
                edition?: number;
                /** @description ordinal 1234, competition 1224, dense 1223 (on boards that keep it). Default: what the board says. */
                rankStyle?: "ordinal" | "competition" | "dense";
                /** @description A boardVersion that was seen: nothing older is answered; waits up to 1 s, then 503 PROJECTION_BEHIND. */
                minVersion?: number;
            };
            header?: {
                /** @description Answer 304 if the ETag is still this one. */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description The id of the board.
                 * @example blitz
                 */
                board: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The rank that the score would get now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "board": "blitz",
                     *       "window": {
                     *         "id": "alltime",
                     *         "startsAt": null,
                     *         "endsAt": null,
                     *         "resetsAt": null
                     *       },
                     *       "scope": "global",
                     *       "total": 1042,
                     *       "boardVersion": 5120,
                     *       "asOf": "2026-11-20T18:00:01.000Z",
                     *       "rankStyle": "ordinal",
                     *       "accuracy": "exact",
                     *       "rank": 18
                     *     }
                     */
                    "application/json": components["schemas"]["RankOfScore"];
                };
            };
        };
    };
    lookupPlayers: {
        parameters: {
            query?: {
                /** @description `player`: rows show the face of their player, too: avatar, region, attributes, as they are now. */
                fields?: "player"[];
                /** @description `daily` is the running one, `daily:2026-11-20` that one. Default: alltime, or the first of the board. */
                window?: string;
                /** @description `global`, or one of the board: `region:EU`, `guild:red`, `country:US`. */
                scope?: string;
                /** @description RFC 3339: as the board stood then, where it keeps that (`snapshot.keepEveryMinutes`); else 410 SNAPSHOT_GONE. */
                asOf?: string;
                /** @description The final standings of an ended window as that edition: 1 is the first. Those before the last are for keys with the scope moderate. */
                edition?: number;
                /** @description ordinal 1234, competition 1224, dense 1223 (on boards that keep it). Default: what the board says. */
                rankStyle?: "ordinal" | "competition" | "dense";
                /** @description A boardVersion that was seen: nothing older is answered; waits up to 1 s, then 503 PROJECTION_BEHIND. */
                minVersion?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The id of the board.
                 * @example blitz
                 */
                board: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PlayerLookup"];
            };
        };
        responses: {
            /** @description In the order asked, null where there is no entry; with `ranked` only entries, the best first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "board": "blitz",
                     *       "window": {
                     *         "id": "alltime",
                     *         "startsAt": null,
                     *         "endsAt": null,
                     *         "resetsAt": null
                     *       },
                     *       "scope": "global",
                     *       "total": 1042,
                     *       "boardVersion": 5120,
                     *       "asOf": "2026-11-20T18:00:01.000Z",
                     *       "rankStyle": "ordinal",
                     *       "accuracy": "exact",
                     *       "entries": [
                     *         {
                     *           "rank": 17,
                     *           "playerId": "ada",
                     *           "displayName": null,
                     *           "score": 1520,
                     *           "columns": {
                     *             "moves": 31
                     *           },
                     *           "achievedAt": "2026-11-20T18:00:00.000Z",
                     *           "metadata": {
                     *             "replay": "r-77"
                     *           }
                     *         },
                     *         null
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["PlayersLookup"];
                };
            };
        };
    };
    getFriendsBoard: {
        parameters: {
            query?: {
                /** @description Default 50. */
                limit?: number;
                /** @description 0-based. */
                offset?: number;
                /** @description `daily` is the running one, `daily:2026-11-20` that one. Default: alltime, or the first of the board. */
                window?: string;
                /** @description `global`, or one of the board: `region:EU`, `guild:red`, `country:US`. */
                scope?: string;
                /** @description RFC 3339: as the board stood then, where it keeps that (`snapshot.keepEveryMinutes`); else 410 SNAPSHOT_GONE. */
                asOf?: string;
                /** @description The final standings of an ended window as that edition: 1 is the first. Those before the last are for keys with the scope moderate. */
                edition?: number;
                /** @description ordinal 1234, competition 1224, dense 1223 (on boards that keep it). Default: what the board says. */
                rankStyle?: "ordinal" | "competition" | "dense";
                /** @description A boardVersion that was seen: nothing older is answered; waits up to 1 s, then 503 PROJECTION_BEHIND. */
                minVersion?: number;
                /** @description `player`: rows show the face of their player, too: avatar, region, attributes, as they are now. */
                fields?: "player"[];
            };
            header?: {
                /** @description Answer 304 if the ETag is still this one. */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description The id of the board.
                 * @example blitz
                 */
                board: string;
                /**
                 * @description Percent-encoded UTF-8; `me` is the player of the caller's token.
                 * @example São Tomé
                 */
                player: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page, the best first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "board": "blitz",
                     *       "window": {
                     *         "id": "alltime",
                     *         "startsAt": null,
                     *         "endsAt": null,
                     *         "resetsAt": null
                     *       },
                     *       "scope": "global",
                     *       "total": 31,
                     *       "boardVersion": 5120,
                     *       "asOf": "2026-11-20T18:00:01.000Z",
                     *       "rankStyle": "ordinal",
                     *       "accuracy": "exact",
                     *       "members": 44,
                     *       "entries": [
                     *         {
                     *           "rank": 2,
                     *           "globalRank": 17,
                     *           "playerId": "ada",
                     *           "displayName": null,
                     *           "score": 1520,
                     *           "columns": {
                     *             "moves": 31
                     *           },
                     *           "achievedAt": "2026-11-20T18:00:00.000Z",
                     *           "metadata": {
                     *             "replay": "r-77"
                     *           }
                     *         }
                     *       ],
                     *       "next": "/v1/boards/blitz/friends/ada?window=alltime&limit=1&offset=2",
                     *       "prev": "/v1/boards/blitz/friends/ada?window=alltime&limit=1&offset=0"
                     *     }
                     */
                    "application/json": components["schemas"]["CirclePage"];
                };
            };
        };
    };
    getFollowsBoard: {
        parameters: {
            query?: {
                /** @description Default 50. */
                limit?: number;
                /** @description 0-based. */
                offset?: number;
                /** @description `daily` is the running one, `daily:2026-11-20` that one. Default: alltime, or the first of the board. */
                window?: string;
                /** @description `global`, or one of the board: `region:EU`, `guild:red`, `country:US`. */
                scope?: string;
                /** @description RFC 3339: as the board stood then, where it keeps that (`snapshot.keepEveryMinutes`); else 410 SNAPSHOT_GONE. */
                asOf?: string;
                /** @description The final standings of an ended window as that edition: 1 is the first. Those before the last are for keys with the scope moderate. */
                edition?: number;
                /** @description ordinal 1234, competition 1224, dense 1223 (on boards that keep it). Default: what the board says. */
                rankStyle?: "ordinal" | "competition" | "dense";
                /** @description A boardVersion that was seen: nothing older is answered; waits up to 1 s, then 503 PROJECTION_BEHIND. */
                minVersion?: number;
                /** @description `player`: rows show the face of their player, too: avatar, region, attributes, as they are now. */
                fields?: "player"[];
            };
            header?: {
                /** @description Answer 304 if the ETag is still this one. */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description The id of the board.
                 * @example blitz
                 */
                board: string;
                /**
                 * @description Percent-encoded UTF-8; `me` is the player of the caller's token.
                 * @example São Tomé
                 */
                player: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page, the best first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "board": "blitz",
                     *       "window": {
                     *         "id": "alltime",
                     *         "startsAt": null,
                     *         "endsAt": null,
                     *         "resetsAt": null
                     *       },
                     *       "scope": "global",
                     *       "total": 31,
                     *       "boardVersion": 5120,
                     *       "asOf": "2026-11-20T18:00:01.000Z",
                     *       "rankStyle": "ordinal",
                     *       "accuracy": "exact",
                     *       "members": 44,
                     *       "entries": [
                     *         {
                     *           "rank": 2,
                     *           "globalRank": 17,
                     *           "playerId": "ada",
                     *           "displayName": null,
                     *           "score": 1520,
                     *           "columns": {
                     *             "moves": 31
                     *           },
                     *           "achievedAt": "2026-11-20T18:00:00.000Z",
                     *           "metadata": {
                     *             "replay": "r-77"
                     *           }
                     *         }
                     *       ],
                     *       "next": "/v1/boards/blitz/follows/ada?window=alltime&limit=1&offset=2",
                     *       "prev": "/v1/boards/blitz/follows/ada?window=alltime&limit=1&offset=0"
                     *     }
                     */
                    "application/json": components["schemas"]["CirclePage"];
                };
            };
        };
    };
    getCircleBoard: {
        parameters: {
            query?: {
                /** @description Default 50. */
                limit?: number;
                /** @description 0-based. */
                offset?: number;
                /** @description `daily` is the running one, `daily:2026-11-20` that one. Default: alltime, or the first of the board. */
                window?: string;
                /** @description `global`, or one of the board: `region:EU`, `guild:red`, `country:US`. */
                scope?: string;
                /** @description RFC 3339: as the board stood then, where it keeps that (`snapshot.keepEveryMinutes`); else 410 SNAPSHOT_GONE. */
                asOf?: string;
                /** @description The final standings of an ended window as that edition: 1 is the first. Those before the last are for keys with the scope moderate. */
                edition?: number;
                /** @description ordinal 1234, competition 1224, dense 1223 (on boards that keep it). Default: what the board says. */
                rankStyle?: "ordinal" | "competition" | "dense";
                /** @description A boardVersion that was seen: nothing older is answered; waits up to 1 s, then 503 PROJECTION_BEHIND. */
                minVersion?: number;
                /** @description `player`: rows show the face of their player, too: avatar, region, attributes, as they are now. */
                fields?: "player"[];
            };
            header?: {
                /** @description Answer 304 if the ETag is still this one. */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description The id of the board.
                 * @example blitz
                 */
                board: string;
                /**
                 * @description The id of a named circle.
                 * @example class-of-2026
                 */
                circle: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page, the best first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "board": "blitz",
                     *       "window": {
                     *         "id": "alltime",
                     *         "startsAt": null,
                     *         "endsAt": null,
                     *         "resetsAt": null
                     *       },
                     *       "scope": "global",
                     *       "total": 31,
                     *       "boardVersion": 5120,
                     *       "asOf": "2026-11-20T18:00:01.000Z",
                     *       "rankStyle": "ordinal",
                     *       "accuracy": "exact",
                     *       "members": 44,
                     *       "entries": [
                     *         {
                     *           "rank": 2,
                     *           "globalRank": 17,
                     *           "playerId": "ada",
                     *           "displayName": null,
                     *           "score": 1520,
                     *           "columns": {
                     *             "moves": 31
                     *           },
                     *           "achievedAt": "2026-11-20T18:00:00.000Z",
                     *           "metadata": {
                     *             "replay": "r-77"
                     *           }
                     *         }
                     *       ],
                     *       "next": "/v1/boards/blitz/circles/class-of-2026?window=alltime&limit=1&offset=2",
                     *       "prev": "/v1/boards/blitz/circles/class-of-2026?window=alltime&limit=1&offset=0"
                     *     }
                     */
                    "application/json": components["schemas"]["CirclePage"];
                };
            };
        };
    };
    getGuilds: {
        parameters: {
            query?: {
                /** @description `replica`: a page by offset may be read from a replica of Redis, where the service has one. It is `estimated` then: off by nothing but its `errorBound` as of its `boardVersion`, which is that of a moment ago, and never below `minVersion` or what the same process answered before to who asked so. Else the page is as without it. */
                from?: "replica";
                /** @description Default 50. */
                limit?: number;
                /** @description 0-based. */
                offset?: number;
                /** @description The `next` of the page before; of entries and guilds `start`, and then the paths in `next` and `prev`. */
                cursor?: string;
                /** @description The page with this place in its middle: 1 is the best entry, whatever the rankStyle. */
                aroundRank?: number;
                /** @description The page with the first entry in its middle that is not better than this JSON number. */
                aroundScore?: number;
                /** @description The page with this player in its middle, of guilds with this guild; `me` is the player of the token. */
                aroundPlayer?: string;
                /** @description `daily` is the running one, `daily:2026-11-20` that one. Default: alltime, or the first of the board. */
                window?: string;
                /** @description RFC 3339: as the board stood then, where it keeps that (`snapshot.keepEveryMinutes`); else 410 SNAPSHOT_GONE. */
                asOf?: string;
                /** @description The final standings of an ended window as that edition: 1 is the first. Those before the last are for keys with the scope moderate. */
                edition?: number;
                /** @description ordinal 1234, competition 1224, dense 1223 (on boards that keep it). Default: what the board says. */
                rankStyle?: "ordinal" | "competition" | "dense";
                /** @description A boardVersion that was seen: nothing older is answered; waits up to 1 s, then 503 PROJECTION_BEHIND. */
                minVersion?: number;
            };
            header?: {
                /** @description Answer 304 if the ETag is still this one. */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description The id of the board.
                 * @example blitz
                 */
                board: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page, the best first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "board": "blitz",
                     *       "window": {
                     *         "id": "alltime",
                     *         "startsAt": null,
                     *         "endsAt": null,
                     *         "resetsAt": null
                     *       },
                     *       "scope": "guilds",
                     *       "total": 12,
                     *       "boardVersion": 5120,
                     *       "asOf": "2026-11-20T18:00:01.000Z",
                     *       "rankStyle": "ordinal",
                     *       "accuracy": "exact",
                     *       "entries": [
                     *         {
                     *           "rank": 1,
                     *           "playerId": "red",
                     *           "displayName": "The Reds",
                     *           "score": 48210,
                     *           "columns": {},
                     *           "achievedAt": "2026-11-20T18:00:00.000Z",
                     *           "metadata": {
                     *             "members": 44
                     *           }
                     *         }
                     *       ],
                     *       "next": "/v1/boards/blitz/guilds?window=alltime&limit=1&offset=1",
                     *       "prev": null
                     *     }
                     */
                    "application/json": components["schemas"]["EntriesPage"];
                };
            };
        };
    };
    getWindows: {
        parameters: {
            query?: {
                /** @description Only windows in this state. */
                state?: "running" | "upcoming" | "ended" | "settled";
                /** @description Default 50. */
                limit?: number;
                /** @description The `next` of the page before; of entries and guilds `start`, and then the paths in `next` and `prev`. */
                cursor?: string;
            };
            header?: {
                /** @description Answer 304 if the ETag is still this one. */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description The id of the board.
                 * @example blitz
                 */
                board: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "board": "blitz",
                     *       "windows": [
                     *         {
                     *           "id": "daily:2026-11-20",
                     *           "kind": "daily",
                     *           "state": "running",
                     *           "startsAt": "2026-11-20T00:00:00.000Z",
                     *           "endsAt": "2026-11-21T00:00:00.000Z",
                     *           "resetsAt": "2026-11-21T00:00:00.000Z",
                     *           "freezeAt": null,
                     *           "isFrozen": false,
                     *           "version": null,
                     *           "entries": null
                     *         },
                     *         {
                     *           "id": "daily:2026-11-19",
                     *           "kind": "daily",
                     *           "state": "settled",
                     *           "startsAt": "2026-11-19T00:00:00.000Z",
                     *           "endsAt": "2026-11-20T00:00:00.000Z",
                     *           "resetsAt": null,
                     *           "freezeAt": null,
                     *           "isFrozen": false,
                     *           "version": 48213,
                     *           "entries": 1042
                     *         }
                     *       ],
                     *       "next": "ended:1795132800000000.17"
                     *     }
                     */
                    "application/json": components["schemas"]["WindowsPage"];
                };
            };
        };
    };
}
