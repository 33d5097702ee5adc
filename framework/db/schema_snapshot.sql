SET LOCAL statement_timeout = 0;
SET LOCAL search_path = '';
SET LOCAL check_function_bodies = off;
CREATE EXTENSION IF NOT EXISTS btree_gin WITH SCHEMA public;
CREATE EXTENSION IF NOT EXISTS btree_gist WITH SCHEMA public;
CREATE EXTENSION IF NOT EXISTS fuzzystrmatch WITH SCHEMA public;
CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;
CREATE EXTENSION IF NOT EXISTS unaccent WITH SCHEMA public;
CREATE FUNCTION public._pgh_attach_context() RETURNS uuid
    LANGUAGE plpgsql
    AS $$
                    DECLARE
                        _pgh_context_id UUID;
                        _pgh_context_metadata JSONB;
                    BEGIN
                        BEGIN
                            SELECT INTO _pgh_context_id
                                CURRENT_SETTING('pghistory.context_id');
                            SELECT INTO _pgh_context_metadata
                                CURRENT_SETTING('pghistory.context_metadata');
                            EXCEPTION WHEN OTHERS THEN
                        END;
                        IF _pgh_context_id IS NOT NULL AND _pgh_context_metadata IS NOT NULL THEN
                            INSERT INTO pghistory_context (id, metadata, created_at, updated_at)
                                VALUES (_pgh_context_id, _pgh_context_metadata, NOW(), NOW())
                                ON CONFLICT (id) DO UPDATE
                                    SET metadata = EXCLUDED.metadata,
                                        updated_at = EXCLUDED.updated_at
                                    WHERE pghistory_context.metadata != EXCLUDED.metadata;
                            RETURN _pgh_context_id;
                        ELSE
                            RETURN NULL;
                        END IF;
                    END;
                $$;
CREATE FUNCTION public._pgtrigger_should_ignore(trigger_name name) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
                DECLARE
                    _pgtrigger_ignore TEXT[];
                    _result BOOLEAN;
                BEGIN
                    BEGIN
                        SELECT INTO _pgtrigger_ignore
                            CURRENT_SETTING('pgtrigger.ignore');
                        EXCEPTION WHEN OTHERS THEN
                    END;
                    IF _pgtrigger_ignore IS NOT NULL THEN
                        SELECT trigger_name = ANY(_pgtrigger_ignore)
                        INTO _result;
                        RETURN _result;
                    ELSE
                        RETURN FALSE;
                    END IF;
                END;
            $$;
CREATE FUNCTION public.api_timestamp(at timestamp with time zone) RETURNS text
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN to_char((at AT TIME ZONE 'UTC'::text), 'YYYY-MM-DD"T"HH24:MI:SS"Z"'::text);
CREATE FUNCTION public.count_api_key_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO accounts_apikeychangecounter AS counted (id, number) VALUES (1, 1)
    ON CONFLICT (id) DO UPDATE SET number = counted.number + 1;
    RETURN NULL;
END $$;
CREATE FUNCTION public.disable_endpoint_without_grant() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    NEW.disabled_at := coalesce(NEW.disabled_at, clock_timestamp());
    NEW.disabled_reason := 'app_ended';
    RETURN NEW;
END $$;
CREATE FUNCTION public.disable_endpoints_of_grant() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    UPDATE accounts_webhookendpoint SET disabled_at = coalesce(disabled_at, NEW.revoked_at), disabled_reason = 'app_ended'
    WHERE grant_id = NEW.id AND disabled_reason IS DISTINCT FROM 'app_ended';
    RETURN NULL;
END $$;
CREATE FUNCTION public.fold(words text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$ SELECT replace(lower(public.unaccent('public.unaccent', words)), '''', '') $$;
CREATE FUNCTION public.forbid_former_slugs(wanted character varying[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF EXISTS (SELECT FROM catalogue_formerslug WHERE slug = ANY (wanted)) THEN
        RAISE unique_violation USING MESSAGE = 'The slug still leads to another restaurant.',
            CONSTRAINT = 'a_former_slug_stays_with_its_restaurant';
    END IF;
END
$$;
CREATE FUNCTION public.forbid_payment_event_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF TG_OP = 'DELETE' AND NOT EXISTS (SELECT FROM payments_payment WHERE id = OLD.payment_id) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'events of payments are never changed' USING ERRCODE = 'check_violation';
END
$$;
CREATE FUNCTION public.forbid_venue_currency_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM 1 FROM orders_menu WHERE venue_id = NEW.id FOR UPDATE;
    IF EXISTS (
        SELECT 1 FROM orders_menuitem AS item JOIN orders_menu AS menu ON menu.id = item.menu_id
        WHERE menu.venue_id = NEW.id
        UNION ALL
        SELECT 1 FROM orders_modifier AS modifier JOIN orders_menu AS menu ON menu.id = modifier.menu_id
        WHERE menu.venue_id = NEW.id
        UNION ALL
        SELECT 1 FROM orders_orderingsettings WHERE venue_id = NEW.id AND (takes_usdc OR usdc_price IS NOT NULL)
        UNION ALL
        SELECT 1 FROM orders_chargerule WHERE venue_id = NEW.id AND (amount IS NOT NULL OR free_from IS NOT NULL)
    ) THEN
        RAISE EXCEPTION 'The dishes of venue % are priced in %.', NEW.id, OLD.currency
            USING ERRCODE = 'check_violation', CONSTRAINT = 'venue_keeps_its_currency_while_its_menu_has_dishes';
    END IF;
    RETURN NEW;
END
$$;
CREATE FUNCTION public.forbid_venue_timezone_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF EXISTS (
        SELECT FROM reservations_reservation
        WHERE venue_id = NEW.id AND status IN ('confirmed', 'pending') AND ends_at > now()
    ) THEN
        RAISE EXCEPTION 'venue % has upcoming reservations in its time zone', NEW.id
        USING ERRCODE = 'check_violation', CONSTRAINT = 'venue_timezone_unused_by_reservations',
              DETAIL = 'venue_timezone_unused_by_reservations';
    END IF;
    RETURN NEW;
END $$;
CREATE FUNCTION public.has_no_duplicates(elements text[]) RETURNS boolean
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN (cardinality(elements) = (SELECT count(DISTINCT element.element) AS count FROM unnest(has_no_duplicates.elements) element(element)));
CREATE FUNCTION public.increment_restaurant_version() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF to_jsonb(new) - unversioned_columns() = to_jsonb(old) - unversioned_columns() THEN
        new.version := old.version;
        new.updated_at := old.updated_at;
    ELSE
        new.version := old.version + 1;
        IF new.updated_at = old.updated_at THEN
            new.updated_at := statement_timestamp();
        END IF;
        new.updated_at := greatest(old.updated_at, new.updated_at);
    END IF;
    RETURN new;
END
$$;
CREATE FUNCTION public.insert_payment_event() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    line payments_payment := CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
BEGIN
    INSERT INTO payments_paymentevent
        (payment_id, at, before, after, attempt, payer, amount_usdc, tx_hash, error, actor)
    VALUES (
        line.id,
        clock_timestamp(),
        CASE WHEN TG_OP = 'INSERT' THEN '' ELSE OLD.state END,
        CASE WHEN TG_OP = 'DELETE' THEN '' ELSE NEW.state END,
        line.attempts,
        line.payer,
        line.amount_usdc,
        coalesce(line.tx_hash, ''),
        line.error,
        coalesce(nullif(current_setting('tablewire.actor', true), ''), 'system')
    );
    RETURN NULL;
END
$$;
CREATE FUNCTION public.insert_removals() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO catalogue_removal (dataset, key, at)
    SELECT TG_ARGV[0], public_id(TG_ARGV[1], id), now() FROM deleted_rows;
    RETURN NULL;
END
$$;
CREATE FUNCTION public.insert_review_changes() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO catalogue_reviewchange
        (restaurant, review, stars, length, helpful_count, photo_count, transaction, at)
    SELECT old_row.restaurant_id, old_row.id, old_row.stars, char_length(old_row.text), old_row.helpful_count,
        old_row.photo_count, pg_current_xact_id()::text::bigint, clock_timestamp()
    FROM old_rows AS old_row JOIN new_rows AS new_row ON new_row.id = old_row.id
    WHERE (old_row.stars, char_length(old_row.text), old_row.helpful_count, old_row.photo_count)
        <> (new_row.stars, char_length(new_row.text), new_row.helpful_count, new_row.photo_count);
    RETURN NULL;
END
$$;
CREATE FUNCTION public.insert_version_removals() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO catalogue_removal (dataset, key, at)
    SELECT 'history', public_id('rst', restaurant_id) || ':' || version, now() FROM deleted_rows;
    RETURN NULL;
END
$$;
CREATE FUNCTION public.json_members(object json) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN substr((object)::text, 2, (length((object)::text) - 2));
CREATE FUNCTION public.mark_insights_outdated(places uuid[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF cardinality(places) > 0 THEN
        PERFORM FROM catalogue_restaurant WHERE id = ANY (places) ORDER BY id FOR NO KEY UPDATE;
        UPDATE catalogue_insight SET is_outdated = true WHERE restaurant_id = ANY (places) AND NOT is_outdated;
    END IF;
END
$$;
CREATE FUNCTION public.mark_insights_outdated_by_flow_rules() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM mark_insights_outdated(ARRAY(
        SELECT DISTINCT unnest(ARRAY[old_row.restaurant_id, new_row.restaurant_id])
        FROM old_rows AS old_row JOIN new_rows AS new_row ON new_row.id = old_row.id
        WHERE (old_row.restaurant_id, old_row.weekdays, old_row.time, old_row.percent, old_row.active)
            IS DISTINCT FROM (new_row.restaurant_id, new_row.weekdays, new_row.time, new_row.percent, new_row.active)
    ));
    RETURN NULL;
END
$$;
CREATE FUNCTION public.mark_insights_outdated_by_restaurants() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM mark_insights_outdated(ARRAY(
        SELECT DISTINCT unnest(ARRAY[old_row.id, new_row.id])
        FROM old_rows AS old_row JOIN new_rows AS new_row ON new_row.id = old_row.id
        WHERE (old_row.hours) IS DISTINCT FROM (new_row.hours)
    ));
    RETURN NULL;
END
$$;
CREATE FUNCTION public.mark_insights_outdated_by_reviews() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM mark_insights_outdated(ARRAY(
        SELECT DISTINCT unnest(ARRAY[old_row.restaurant_id, new_row.restaurant_id])
        FROM old_rows AS old_row JOIN new_rows AS new_row ON new_row.id = old_row.id
        WHERE (old_row.restaurant_id, old_row.stars, old_row.text, old_row.lang, old_row.created_at)
            IS DISTINCT FROM (new_row.restaurant_id, new_row.stars, new_row.text, new_row.lang, new_row.created_at)
    ));
    RETURN NULL;
END
$$;
CREATE FUNCTION public.mark_insights_outdated_by_rows() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM mark_insights_outdated(ARRAY(SELECT DISTINCT restaurant_id FROM changed_rows));
    RETURN NULL;
END
$$;
CREATE FUNCTION public.mercator(latitude double precision, longitude double precision) RETURNS point
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN point(((6378137)::double precision * radians(longitude)), ((6378137)::double precision * ln(tan(((pi() / (4)::double precision) + (radians(latitude) / (2)::double precision))))));
CREATE FUNCTION public.on_restaurant_delete() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    DELETE FROM catalogue_kitchen USING removed WHERE restaurant_id = removed.id;
    DELETE FROM catalogue_searchrow USING removed WHERE restaurant_id = removed.id;
    DELETE FROM catalogue_record USING removed WHERE restaurant_id = removed.id;
    RETURN NULL;
END
$$;
CREATE FUNCTION public.on_restaurant_insert() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM forbid_former_slugs(ARRAY(SELECT slug FROM added));
    INSERT INTO catalogue_version (restaurant_id, version, at, actor, kind, patch)
    SELECT id, version, created_at, coalesce(nullif(current_setting('tablewire.actor', true), ''), 'system'),
        'created', '{}'
    FROM added ORDER BY id;
    PERFORM render_restaurants(ARRAY(SELECT id FROM added));
    RETURN NULL;
END
$$;
CREATE FUNCTION public.on_restaurant_update() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    changed uuid[] := ARRAY(
        SELECT new_row.id FROM old_rows AS old_row JOIN new_rows AS new_row ON new_row.id = old_row.id
        WHERE new_row.version <> old_row.version
    );
BEGIN
    IF cardinality(changed) = 0 THEN
        RETURN NULL;
    END IF;
    DELETE FROM catalogue_formerslug AS former USING new_rows AS new_row
    WHERE former.slug = new_row.slug AND former.restaurant_id = new_row.id;
    PERFORM forbid_former_slugs(ARRAY(
        SELECT new_row.slug FROM old_rows AS old_row JOIN new_rows AS new_row ON new_row.id = old_row.id
        WHERE new_row.slug <> old_row.slug
    ));
    INSERT INTO catalogue_formerslug (slug, restaurant_id, until)
    SELECT old_row.slug, old_row.id, new_row.updated_at
    FROM old_rows AS old_row JOIN new_rows AS new_row ON new_row.id = old_row.id WHERE new_row.slug <> old_row.slug;
    INSERT INTO catalogue_version (restaurant_id, version, at, actor, kind, patch)
    SELECT new_row.id, new_row.version, new_row.updated_at,
        coalesce(nullif(current_setting('tablewire.actor', true), ''), 'system'),
        CASE
            WHEN new_row.erased_at IS NOT NULL AND old_row.erased_at IS NULL THEN 'erased'
            WHEN new_row.merged_into_id IS NOT NULL AND old_row.merged_into_id IS NULL THEN 'merged'
            WHEN new_row.status IN ('permanently_closed', 'moved')
                AND old_row.status NOT IN ('permanently_closed', 'moved') THEN 'closed'
            WHEN old_row.status IN ('permanently_closed', 'moved')
                AND new_row.status NOT IN ('permanently_closed', 'moved') THEN 'reopened'
            WHEN new_row.slug <> old_row.slug OR new_row.name <> old_row.name THEN 'renamed'
            ELSE 'updated'
        END,
        (
            SELECT jsonb_object_agg(key, jsonb_build_array(before.value, after.value))
            FROM jsonb_each(to_jsonb(old_row) - unversioned_columns()) AS before
            JOIN jsonb_each(to_jsonb(new_row) - unversioned_columns()) AS after USING (key)
            WHERE before.value <> after.value
        )
    FROM old_rows AS old_row JOIN new_rows AS new_row ON new_row.id = old_row.id
    WHERE new_row.version <> old_row.version
    ORDER BY new_row.id;
    UPDATE catalogue_searchrow AS row SET intervals_until = NULL
    FROM old_rows AS old_row JOIN new_rows AS new_row ON new_row.id = old_row.id
    WHERE row.restaurant_id = new_row.id AND row.intervals_until IS NOT NULL
        AND (old_row.hours, old_row.status, old_row.latitude, old_row.longitude, old_row.market_id)
            IS DISTINCT FROM (new_row.hours, new_row.status, new_row.latitude, new_row.longitude, new_row.market_id);
    PERFORM render_restaurants(changed);
    RETURN NULL;
END
$$;
CREATE FUNCTION public.pgtrigger_added_insert_01e67() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "orders_modifiergroupchange" ("id", "max_choices", "menu_id", "min_choices", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "ref", "translations") VALUES (NEW."id", NEW."max_choices", NEW."menu_id", NEW."min_choices", NEW."name", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'added', NEW."id", NEW."ref", NEW."translations"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_added_insert_0b370() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "orders_chargerulechange" ("amount", "free_from", "fulfilments", "id", "name", "percent", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "tax_percent", "translations", "type", "venue_id") VALUES (NEW."amount", NEW."free_from", NEW."fulfilments", NEW."id", NEW."name", NEW."percent", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'added', NEW."id", NEW."position", NEW."tax_percent", NEW."translations", NEW."type", NEW."venue_id"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_added_insert_38770() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "orders_menuitemchange" ("allergens", "category_id", "description", "diets", "id", "is_available", "menu_id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "photo_id", "position", "prep_minutes", "price", "ref", "sold_out_on", "sold_out_until", "station", "takeaway_tax_percent", "tax_percent", "translations") VALUES (NEW."allergens", NEW."category_id", NEW."description", NEW."diets", NEW."id", NEW."is_available", NEW."menu_id", NEW."name", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'added', NEW."id", NEW."photo_id", NEW."position", NEW."prep_minutes", NEW."price", NEW."ref", NEW."sold_out_on", NEW."sold_out_until", NEW."station", NEW."takeaway_tax_percent", NEW."tax_percent", NEW."translations"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_added_insert_4128f() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "accounts_webhookendpointchange" ("created_at", "description", "disabled_at", "disabled_reason", "grant_id", "id", "old_secret_until", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "types", "url", "venue_id") VALUES (NEW."created_at", NEW."description", NEW."disabled_at", NEW."disabled_reason", NEW."grant_id", NEW."id", NEW."old_secret_until", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'added', NEW."id", NEW."types", NEW."url", NEW."venue_id"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_added_insert_446fe() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "orders_modifierchange" ("allergens", "group_id", "id", "is_available", "is_default", "item_id", "menu_id", "name", "nested_group_id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "price_delta", "ref", "translations") VALUES (NEW."allergens", NEW."group_id", NEW."id", NEW."is_available", NEW."is_default", NEW."item_id", NEW."menu_id", NEW."name", NEW."nested_group_id", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'added', NEW."id", NEW."position", NEW."price_delta", NEW."ref", NEW."translations"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_added_insert_46f06() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "reservations_cancellationtermschange" ("deposit_usdc", "first_date", "free_hours", "id", "last_date", "party_from", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "venue_id", "weekdays") VALUES (NEW."deposit_usdc", NEW."first_date", NEW."free_hours", NEW."id", NEW."last_date", NEW."party_from", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'added', NEW."id", NEW."venue_id", NEW."weekdays"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_added_insert_6c1e9() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "orders_orderingsettingschange" ("is_page_open", "late_minutes", "max_waiting_orders", "orders_per_slot", "page_fulfilments", "paused_at", "paused_until", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "prep_minutes", "printer_address", "printer_port", "slot_minutes", "takes_usdc", "usdc_price", "venue_id", "warn_minutes") VALUES (NEW."is_page_open", NEW."late_minutes", NEW."max_waiting_orders", NEW."orders_per_slot", NEW."page_fulfilments", NEW."paused_at", NEW."paused_until", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'added', NEW."venue_id", NEW."prep_minutes", NEW."printer_address", NEW."printer_port", NEW."slot_minutes", NEW."takes_usdc", NEW."usdc_price", NEW."venue_id", NEW."warn_minutes"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_added_insert_7ffe5() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "orders_menucategorychange" ("id", "menu_id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "served_from", "served_until", "translations") VALUES (NEW."id", NEW."menu_id", NEW."name", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'added', NEW."id", NEW."position", NEW."served_from", NEW."served_until", NEW."translations"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_added_insert_a900e() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "reservations_closurechange" ("first_date", "id", "last_date", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "venue_id") VALUES (NEW."first_date", NEW."id", NEW."last_date", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'added', NEW."id", NEW."reason", NEW."venue_id"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_added_insert_ad637() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "orders_itemmodifiergroupchange" ("group_id", "id", "item_id", "menu_id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "position") VALUES (NEW."group_id", NEW."id", NEW."item_id", NEW."menu_id", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'added', NEW."id", NEW."position"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_added_insert_b6f33() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "orders_menuchange" ("created_at", "id", "is_published", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "venue_id") VALUES (NEW."created_at", NEW."id", NEW."is_published", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'added', NEW."id", NEW."venue_id"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_added_insert_c0b37() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "accounts_venuechange" ("account_id", "address", "auto_confirm_max_party", "created_at", "currency", "forgets_guests_after_days", "id", "is_bookable_online", "is_sandbox", "language", "mails_guests", "max_days_ahead", "name", "payment_methods", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "phone", "prices_include_tax", "proves_guests", "timezone", "when_full") VALUES (NEW."account_id", NEW."address", NEW."auto_confirm_max_party", NEW."created_at", NEW."currency", NEW."forgets_guests_after_days", NEW."id", NEW."is_bookable_online", NEW."is_sandbox", NEW."language", NEW."mails_guests", NEW."max_days_ahead", NEW."name", NEW."payment_methods", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'added', NEW."id", NEW."phone", NEW."prices_include_tax", NEW."proves_guests", NEW."timezone", NEW."when_full"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_added_insert_d3b8e() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "accounts_apikeychange" ("allowance", "app_id", "created_at", "end", "expires_at", "family", "has_data_access", "id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "revoked_at", "scopes", "start", "venue_id") VALUES (NEW."allowance", NEW."app_id", NEW."created_at", NEW."end", NEW."expires_at", NEW."family", NEW."has_data_access", NEW."id", NEW."name", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'added', NEW."id", NEW."revoked_at", NEW."scopes", NEW."start", NEW."venue_id"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_added_insert_f0184() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "accounts_membershipchange" ("account_id", "created_at", "id", "is_limited", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "role", "user_id") VALUES (NEW."account_id", NEW."created_at", NEW."id", NEW."is_limited", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'added', NEW."id", NEW."role", NEW."user_id"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_added_insert_f157e() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "reservations_tablechange" ("area_id", "id", "is_active", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "priority", "seats_max", "seats_min", "venue_id") VALUES (NEW."area_id", NEW."id", NEW."is_active", NEW."name", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'added', NEW."id", NEW."priority", NEW."seats_max", NEW."seats_min", NEW."venue_id"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_added_insert_f8265() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "reservations_serviceperiodchange" ("first_seating", "id", "last_seating", "name", "pacing_covers", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "slot_min", "turn_2_min", "turn_4_min", "turn_6_min", "turn_more_min", "venue_id", "weekdays") VALUES (NEW."first_seating", NEW."id", NEW."last_seating", NEW."name", NEW."pacing_covers", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'added', NEW."id", NEW."slot_min", NEW."turn_2_min", NEW."turn_4_min", NEW."turn_6_min", NEW."turn_more_min", NEW."venue_id", NEW."weekdays"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_changed_update_2d660() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "orders_orderingsettingschange" ("is_page_open", "late_minutes", "max_waiting_orders", "orders_per_slot", "page_fulfilments", "paused_at", "paused_until", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "prep_minutes", "printer_address", "printer_port", "slot_minutes", "takes_usdc", "usdc_price", "venue_id", "warn_minutes") VALUES (OLD."is_page_open", OLD."late_minutes", OLD."max_waiting_orders", OLD."orders_per_slot", OLD."page_fulfilments", OLD."paused_at", OLD."paused_until", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'changed', OLD."venue_id", OLD."prep_minutes", OLD."printer_address", OLD."printer_port", OLD."slot_minutes", OLD."takes_usdc", OLD."usdc_price", OLD."venue_id", OLD."warn_minutes"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_changed_update_2ef26() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "accounts_membershipchange" ("account_id", "created_at", "id", "is_limited", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "role", "user_id") VALUES (OLD."account_id", OLD."created_at", OLD."id", OLD."is_limited", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'changed', OLD."id", OLD."role", OLD."user_id"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_changed_update_3232a() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "reservations_serviceperiodchange" ("first_seating", "id", "last_seating", "name", "pacing_covers", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "slot_min", "turn_2_min", "turn_4_min", "turn_6_min", "turn_more_min", "venue_id", "weekdays") VALUES (OLD."first_seating", OLD."id", OLD."last_seating", OLD."name", OLD."pacing_covers", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'changed', OLD."id", OLD."slot_min", OLD."turn_2_min", OLD."turn_4_min", OLD."turn_6_min", OLD."turn_more_min", OLD."venue_id", OLD."weekdays"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_changed_update_46070() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "accounts_apikeychange" ("allowance", "app_id", "created_at", "end", "expires_at", "family", "has_data_access", "id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "revoked_at", "scopes", "start", "venue_id") VALUES (OLD."allowance", OLD."app_id", OLD."created_at", OLD."end", OLD."expires_at", OLD."family", OLD."has_data_access", OLD."id", OLD."name", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'changed', OLD."id", OLD."revoked_at", OLD."scopes", OLD."start", OLD."venue_id"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_changed_update_70c53() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "orders_itemmodifiergroupchange" ("group_id", "id", "item_id", "menu_id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "position") VALUES (OLD."group_id", OLD."id", OLD."item_id", OLD."menu_id", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'changed', OLD."id", OLD."position"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_changed_update_74b9e() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "accounts_venuechange" ("account_id", "address", "auto_confirm_max_party", "created_at", "currency", "forgets_guests_after_days", "id", "is_bookable_online", "is_sandbox", "language", "mails_guests", "max_days_ahead", "name", "payment_methods", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "phone", "prices_include_tax", "proves_guests", "timezone", "when_full") VALUES (OLD."account_id", OLD."address", OLD."auto_confirm_max_party", OLD."created_at", OLD."currency", OLD."forgets_guests_after_days", OLD."id", OLD."is_bookable_online", OLD."is_sandbox", OLD."language", OLD."mails_guests", OLD."max_days_ahead", OLD."name", OLD."payment_methods", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'changed', OLD."id", OLD."phone", OLD."prices_include_tax", OLD."proves_guests", OLD."timezone", OLD."when_full"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_changed_update_82097() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "orders_menuchange" ("created_at", "id", "is_published", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "venue_id") VALUES (OLD."created_at", OLD."id", OLD."is_published", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'changed', OLD."id", OLD."venue_id"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_changed_update_8be19() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "orders_menuitemchange" ("allergens", "category_id", "description", "diets", "id", "is_available", "menu_id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "photo_id", "position", "prep_minutes", "price", "ref", "sold_out_on", "sold_out_until", "station", "takeaway_tax_percent", "tax_percent", "translations") VALUES (OLD."allergens", OLD."category_id", OLD."description", OLD."diets", OLD."id", OLD."is_available", OLD."menu_id", OLD."name", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'changed', OLD."id", OLD."photo_id", OLD."position", OLD."prep_minutes", OLD."price", OLD."ref", OLD."sold_out_on", OLD."sold_out_until", OLD."station", OLD."takeaway_tax_percent", OLD."tax_percent", OLD."translations"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_changed_update_a6617() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "accounts_webhookendpointchange" ("created_at", "description", "disabled_at", "disabled_reason", "grant_id", "id", "old_secret_until", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "types", "url", "venue_id") VALUES (OLD."created_at", OLD."description", OLD."disabled_at", OLD."disabled_reason", OLD."grant_id", OLD."id", OLD."old_secret_until", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'changed', OLD."id", OLD."types", OLD."url", OLD."venue_id"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_changed_update_a8d1a() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "orders_chargerulechange" ("amount", "free_from", "fulfilments", "id", "name", "percent", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "tax_percent", "translations", "type", "venue_id") VALUES (OLD."amount", OLD."free_from", OLD."fulfilments", OLD."id", OLD."name", OLD."percent", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'changed', OLD."id", OLD."position", OLD."tax_percent", OLD."translations", OLD."type", OLD."venue_id"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_changed_update_ad2ed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "reservations_closurechange" ("first_date", "id", "last_date", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "venue_id") VALUES (OLD."first_date", OLD."id", OLD."last_date", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'changed', OLD."id", OLD."reason", OLD."venue_id"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_changed_update_ae4af() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "orders_menucategorychange" ("id", "menu_id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "served_from", "served_until", "translations") VALUES (OLD."id", OLD."menu_id", OLD."name", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'changed', OLD."id", OLD."position", OLD."served_from", OLD."served_until", OLD."translations"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_changed_update_bb6fb() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "orders_modifierchange" ("allergens", "group_id", "id", "is_available", "is_default", "item_id", "menu_id", "name", "nested_group_id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "price_delta", "ref", "translations") VALUES (OLD."allergens", OLD."group_id", OLD."id", OLD."is_available", OLD."is_default", OLD."item_id", OLD."menu_id", OLD."name", OLD."nested_group_id", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'changed', OLD."id", OLD."position", OLD."price_delta", OLD."ref", OLD."translations"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_changed_update_cc0c1() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "orders_modifiergroupchange" ("id", "max_choices", "menu_id", "min_choices", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "ref", "translations") VALUES (OLD."id", OLD."max_choices", OLD."menu_id", OLD."min_choices", OLD."name", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'changed', OLD."id", OLD."ref", OLD."translations"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_changed_update_cead7() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "reservations_tablechange" ("area_id", "id", "is_active", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "priority", "seats_max", "seats_min", "venue_id") VALUES (OLD."area_id", OLD."id", OLD."is_active", OLD."name", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'changed', OLD."id", OLD."priority", OLD."seats_max", OLD."seats_min", OLD."venue_id"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_changed_update_deb2e() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "reservations_cancellationtermschange" ("deposit_usdc", "first_date", "free_hours", "id", "last_date", "party_from", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "venue_id", "weekdays") VALUES (OLD."deposit_usdc", OLD."first_date", OLD."free_hours", OLD."id", OLD."last_date", OLD."party_from", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'changed', OLD."id", OLD."venue_id", OLD."weekdays"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_removed_delete_14a20() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "orders_modifiergroupchange" ("id", "max_choices", "menu_id", "min_choices", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "ref", "translations") VALUES (OLD."id", OLD."max_choices", OLD."menu_id", OLD."min_choices", OLD."name", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'removed', OLD."id", OLD."ref", OLD."translations"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_removed_delete_23453() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "orders_orderingsettingschange" ("is_page_open", "late_minutes", "max_waiting_orders", "orders_per_slot", "page_fulfilments", "paused_at", "paused_until", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "prep_minutes", "printer_address", "printer_port", "slot_minutes", "takes_usdc", "usdc_price", "venue_id", "warn_minutes") VALUES (OLD."is_page_open", OLD."late_minutes", OLD."max_waiting_orders", OLD."orders_per_slot", OLD."page_fulfilments", OLD."paused_at", OLD."paused_until", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'removed', OLD."venue_id", OLD."prep_minutes", OLD."printer_address", OLD."printer_port", OLD."slot_minutes", OLD."takes_usdc", OLD."usdc_price", OLD."venue_id", OLD."warn_minutes"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_removed_delete_27d0d() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "orders_menuchange" ("created_at", "id", "is_published", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "venue_id") VALUES (OLD."created_at", OLD."id", OLD."is_published", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'removed', OLD."id", OLD."venue_id"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_removed_delete_2ce83() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "reservations_serviceperiodchange" ("first_seating", "id", "last_seating", "name", "pacing_covers", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "slot_min", "turn_2_min", "turn_4_min", "turn_6_min", "turn_more_min", "venue_id", "weekdays") VALUES (OLD."first_seating", OLD."id", OLD."last_seating", OLD."name", OLD."pacing_covers", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'removed', OLD."id", OLD."slot_min", OLD."turn_2_min", OLD."turn_4_min", OLD."turn_6_min", OLD."turn_more_min", OLD."venue_id", OLD."weekdays"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_removed_delete_42aee() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "orders_modifierchange" ("allergens", "group_id", "id", "is_available", "is_default", "item_id", "menu_id", "name", "nested_group_id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "price_delta", "ref", "translations") VALUES (OLD."allergens", OLD."group_id", OLD."id", OLD."is_available", OLD."is_default", OLD."item_id", OLD."menu_id", OLD."name", OLD."nested_group_id", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'removed', OLD."id", OLD."position", OLD."price_delta", OLD."ref", OLD."translations"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_removed_delete_4eb07() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "orders_menuitemchange" ("allergens", "category_id", "description", "diets", "id", "is_available", "menu_id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "photo_id", "position", "prep_minutes", "price", "ref", "sold_out_on", "sold_out_until", "station", "takeaway_tax_percent", "tax_percent", "translations") VALUES (OLD."allergens", OLD."category_id", OLD."description", OLD."diets", OLD."id", OLD."is_available", OLD."menu_id", OLD."name", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'removed', OLD."id", OLD."photo_id", OLD."position", OLD."prep_minutes", OLD."price", OLD."ref", OLD."sold_out_on", OLD."sold_out_until", OLD."station", OLD."takeaway_tax_percent", OLD."tax_percent", OLD."translations"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_removed_delete_523dc() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "accounts_webhookendpointchange" ("created_at", "description", "disabled_at", "disabled_reason", "grant_id", "id", "old_secret_until", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "types", "url", "venue_id") VALUES (OLD."created_at", OLD."description", OLD."disabled_at", OLD."disabled_reason", OLD."grant_id", OLD."id", OLD."old_secret_until", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'removed', OLD."id", OLD."types", OLD."url", OLD."venue_id"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_removed_delete_8a109() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "orders_menucategorychange" ("id", "menu_id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "served_from", "served_until", "translations") VALUES (OLD."id", OLD."menu_id", OLD."name", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'removed', OLD."id", OLD."position", OLD."served_from", OLD."served_until", OLD."translations"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_removed_delete_9ed64() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "orders_itemmodifiergroupchange" ("group_id", "id", "item_id", "menu_id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "position") VALUES (OLD."group_id", OLD."id", OLD."item_id", OLD."menu_id", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'removed', OLD."id", OLD."position"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_removed_delete_b6bd3() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "reservations_cancellationtermschange" ("deposit_usdc", "first_date", "free_hours", "id", "last_date", "party_from", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "venue_id", "weekdays") VALUES (OLD."deposit_usdc", OLD."first_date", OLD."free_hours", OLD."id", OLD."last_date", OLD."party_from", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'removed', OLD."id", OLD."venue_id", OLD."weekdays"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_removed_delete_d22e6() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "reservations_tablechange" ("area_id", "id", "is_active", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "priority", "seats_max", "seats_min", "venue_id") VALUES (OLD."area_id", OLD."id", OLD."is_active", OLD."name", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'removed', OLD."id", OLD."priority", OLD."seats_max", OLD."seats_min", OLD."venue_id"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_removed_delete_d2b7c() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "accounts_venuechange" ("account_id", "address", "auto_confirm_max_party", "created_at", "currency", "forgets_guests_after_days", "id", "is_bookable_online", "is_sandbox", "language", "mails_guests", "max_days_ahead", "name", "payment_methods", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "phone", "prices_include_tax", "proves_guests", "timezone", "when_full") VALUES (OLD."account_id", OLD."address", OLD."auto_confirm_max_party", OLD."created_at", OLD."currency", OLD."forgets_guests_after_days", OLD."id", OLD."is_bookable_online", OLD."is_sandbox", OLD."language", OLD."mails_guests", OLD."max_days_ahead", OLD."name", OLD."payment_methods", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'removed', OLD."id", OLD."phone", OLD."prices_include_tax", OLD."proves_guests", OLD."timezone", OLD."when_full"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_removed_delete_d2fe0() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "accounts_membershipchange" ("account_id", "created_at", "id", "is_limited", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "role", "user_id") VALUES (OLD."account_id", OLD."created_at", OLD."id", OLD."is_limited", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'removed', OLD."id", OLD."role", OLD."user_id"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_removed_delete_d5bea() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "accounts_apikeychange" ("allowance", "app_id", "created_at", "end", "expires_at", "family", "has_data_access", "id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "revoked_at", "scopes", "start", "venue_id") VALUES (OLD."allowance", OLD."app_id", OLD."created_at", OLD."end", OLD."expires_at", OLD."family", OLD."has_data_access", OLD."id", OLD."name", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'removed', OLD."id", OLD."revoked_at", OLD."scopes", OLD."start", OLD."venue_id"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_removed_delete_d66ae() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "reservations_closurechange" ("first_date", "id", "last_date", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "venue_id") VALUES (OLD."first_date", OLD."id", OLD."last_date", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'removed', OLD."id", OLD."reason", OLD."venue_id"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_removed_delete_eab81() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "orders_chargerulechange" ("amount", "free_from", "fulfilments", "id", "name", "percent", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "tax_percent", "translations", "type", "venue_id") VALUES (OLD."amount", OLD."free_from", OLD."fulfilments", OLD."id", OLD."name", OLD."percent", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), NULL)::JSONB, clock_timestamp(), 'removed', OLD."id", OLD."position", OLD."tax_percent", OLD."translations", OLD."type", OLD."venue_id"); RETURN NULL;
                END;
            $$;
CREATE FUNCTION public.pgtrigger_staff_access_never_changes_3c226() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;
                END;
            $$;
CREATE FUNCTION public.public_id(prefix text, id uuid) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN ((prefix || '_'::text) || encode(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte('\x0000000000000000000000000000000000000000000000000000'::bytea, 0, get_byte('\x3031323334353637383961626364656667686a6b6d6e7071727374767778797a'::bytea, (get_byte(uuid_send(id), 0) >> 5))), 1, get_byte('\x3031323334353637383961626364656667686a6b6d6e7071727374767778797a'::bytea, ((get_byte(uuid_send(id), 0) >> 0) & 31))), 2, get_byte('\x3031323334353637383961626364656667686a6b6d6e7071727374767778797a'::bytea, ((get_byte(uuid_send(id), 1) >> 3) & 31))), 3, get_byte('\x3031323334353637383961626364656667686a6b6d6e7071727374767778797a'::bytea, (((get_byte(uuid_send(id), 1) << 2) | (get_byte(uuid_send(id), 2) >> 6)) & 31))), 4, get_byte('\x3031323334353637383961626364656667686a6b6d6e7071727374767778797a'::bytea, ((get_byte(uuid_send(id), 2) >> 1) & 31))), 5, get_byte('\x3031323334353637383961626364656667686a6b6d6e7071727374767778797a'::bytea, (((get_byte(uuid_send(id), 2) << 4) | (get_byte(uuid_send(id), 3) >> 4)) & 31))), 6, get_byte('\x3031323334353637383961626364656667686a6b6d6e7071727374767778797a'::bytea, (((get_byte(uuid_send(id), 3) << 1) | (get_byte(uuid_send(id), 4) >> 7)) & 31))), 7, get_byte('\x3031323334353637383961626364656667686a6b6d6e7071727374767778797a'::bytea, ((get_byte(uuid_send(id), 4) >> 2) & 31))), 8, get_byte('\x3031323334353637383961626364656667686a6b6d6e7071727374767778797a'::bytea, (((get_byte(uuid_send(id), 4) << 3) | (get_byte(uuid_send(id), 5) >> 5)) & 31))), 9, get_byte('\x3031323334353637383961626364656667686a6b6d6e7071727374767778797a'::bytea, ((get_byte(uuid_send(id), 5) >> 0) & 31))), 10, get_byte('\x3031323334353637383961626364656667686a6b6d6e7071727374767778797a'::bytea, ((get_byte(uuid_send(id), 6) >> 3) & 31))), 11, get_byte('\x3031323334353637383961626364656667686a6b6d6e7071727374767778797a'::bytea, (((get_byte(uuid_send(id), 6) << 2) | (get_byte(uuid_send(id), 7) >> 6)) & 31))), 12, get_byte('\x3031323334353637383961626364656667686a6b6d6e7071727374767778797a'::bytea, ((get_byte(uuid_send(id), 7) >> 1) & 31))), 13, get_byte('\x3031323334353637383961626364656667686a6b6d6e7071727374767778797a'::bytea, (((get_byte(uuid_send(id), 7) << 4) | (get_byte(uuid_send(id), 8) >> 4)) & 31))), 14, get_byte('\x3031323334353637383961626364656667686a6b6d6e7071727374767778797a'::bytea, (((get_byte(uuid_send(id), 8) << 1) | (get_byte(uuid_send(id), 9) >> 7)) & 31))), 15, get_byte('\x3031323334353637383961626364656667686a6b6d6e7071727374767778797a'::bytea, ((get_byte(uuid_send(id), 9) >> 2) & 31))), 16, get_byte('\x3031323334353637383961626364656667686a6b6d6e7071727374767778797a'::bytea, (((get_byte(uuid_send(id), 9) << 3) | (get_byte(uuid_send(id), 10) >> 5)) & 31))), 17, get_byte('\x3031323334353637383961626364656667686a6b6d6e7071727374767778797a'::bytea, ((get_byte(uuid_send(id), 10) >> 0) & 31))), 18, get_byte('\x3031323334353637383961626364656667686a6b6d6e7071727374767778797a'::bytea, ((get_byte(uuid_send(id), 11) >> 3) & 31))), 19, get_byte('\x3031323334353637383961626364656667686a6b6d6e7071727374767778797a'::bytea, (((get_byte(uuid_send(id), 11) << 2) | (get_byte(uuid_send(id), 12) >> 6)) & 31))), 20, get_byte('\x3031323334353637383961626364656667686a6b6d6e7071727374767778797a'::bytea, ((get_byte(uuid_send(id), 12) >> 1) & 31))), 21, get_byte('\x3031323334353637383961626364656667686a6b6d6e7071727374767778797a'::bytea, (((get_byte(uuid_send(id), 12) << 4) | (get_byte(uuid_send(id), 13) >> 4)) & 31))), 22, get_byte('\x3031323334353637383961626364656667686a6b6d6e7071727374767778797a'::bytea, (((get_byte(uuid_send(id), 13) << 1) | (get_byte(uuid_send(id), 14) >> 7)) & 31))), 23, get_byte('\x3031323334353637383961626364656667686a6b6d6e7071727374767778797a'::bytea, ((get_byte(uuid_send(id), 14) >> 2) & 31))), 24, get_byte('\x3031323334353637383961626364656667686a6b6d6e7071727374767778797a'::bytea, (((get_byte(uuid_send(id), 14) << 3) | (get_byte(uuid_send(id), 15) >> 5)) & 31))), 25, get_byte('\x3031323334353637383961626364656667686a6b6d6e7071727374767778797a'::bytea, ((get_byte(uuid_send(id), 15) >> 0) & 31))), 'escape'::text));
CREATE FUNCTION public.rank_restaurants(ids uuid[], at timestamp with time zone) RETURNS void
    LANGUAGE sql
    AS $$
UPDATE catalogue_searchrow AS held
SET former_stars = held.rank_stars, former_reviews = held.rank_reviews, ranked_at = at + interval '5 minutes',
    rank_stars = (coalesce(held.rating, 0) * 10)::integer, rank_reviews = held.review_count
FROM (
    SELECT r.restaurant_id FROM catalogue_searchrow AS r
    WHERE (ids IS NULL OR r.restaurant_id = ANY (ids)) AND r.ranked_at < at - interval '1 hour'
        AND (r.rank_stars, r.rank_reviews) IS DISTINCT FROM ((coalesce(r.rating, 0) * 10)::integer, r.review_count)
    FOR NO KEY UPDATE SKIP LOCKED
) AS due
WHERE held.restaurant_id = due.restaurant_id
$$;
CREATE FUNCTION public.record_neighborhood_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND (OLD.kind, OLD.name, OLD.latitude, OLD.longitude)
        IS NOT DISTINCT FROM (NEW.kind, NEW.name, NEW.latitude, NEW.longitude)
    THEN
        RETURN NULL;
    END IF;
    IF TG_OP <> 'INSERT' AND OLD.kind = 'neighborhood' THEN
        INSERT INTO public.catalogue_neighborhoodchange (latitude, longitude) VALUES (OLD.latitude, OLD.longitude);
    END IF;
    IF TG_OP = 'INSERT' OR (TG_OP = 'UPDATE' AND NEW.kind = 'neighborhood' AND (
        OLD.kind, OLD.latitude, OLD.longitude) IS DISTINCT FROM ('neighborhood', NEW.latitude, NEW.longitude)
    ) THEN
        INSERT INTO public.catalogue_neighborhoodchange (latitude, longitude) VALUES (NEW.latitude, NEW.longitude);
    END IF;
    RETURN NULL;
END
$$;
CREATE FUNCTION public.render_locked_restaurants(ids uuid[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    DELETE FROM catalogue_record WHERE restaurant_id = ANY (ids) AND NOT EXISTS (
        SELECT FROM catalogue_restaurant r
        WHERE r.id = restaurant_id AND r.merged_into_id IS NULL AND r.erased_at IS NULL
    );
    INSERT INTO catalogue_record AS held (restaurant_id, slug, status, timezone, hours_known, before, hours, after, sources)
    SELECT r.id, r.slug, r.status, made.timezone, made.hours_known, made.before, made.hours, made.after, made.sources
    FROM catalogue_restaurant AS r CROSS JOIN LATERAL restaurant_record(r) AS made
    WHERE r.id = ANY (ids) AND r.merged_into_id IS NULL AND r.erased_at IS NULL
    ORDER BY r.id
    ON CONFLICT (restaurant_id) DO UPDATE SET slug = excluded.slug, status = excluded.status,
        timezone = excluded.timezone, hours_known = excluded.hours_known, before = excluded.before,
        hours = excluded.hours, after = excluded.after, sources = excluded.sources;

    DELETE FROM catalogue_kitchen USING unnest(ids) AS changed (id)
    WHERE restaurant_id = changed.id AND NOT EXISTS (
        SELECT FROM catalogue_restaurant r
        WHERE r.id = restaurant_id AND cuisine = ANY (r.cuisines)
            AND r.status NOT IN ('permanently_closed', 'moved') AND r.merged_into_id IS NULL AND r.erased_at IS NULL
    );
    DELETE FROM catalogue_searchrow WHERE restaurant_id = ANY (ids) AND NOT EXISTS (
        SELECT FROM catalogue_restaurant r
        WHERE r.id = restaurant_id
            AND r.status NOT IN ('permanently_closed', 'moved') AND r.merged_into_id IS NULL AND r.erased_at IS NULL
    );
    INSERT INTO catalogue_searchrow AS held (restaurant_id, market, position, latitude, longitude, timezone, is_shut,
        cuisines, price_level, rating, review_count, rank_stars, rank_reviews, former_stars, former_reviews, ranked_at,
        tags, neighborhood, name, line1, document, sources, card)
    SELECT r.id, r.market_id, r.position, r.latitude, r.longitude, made.timezone, made.is_shut, r.cuisines,
        r.price_level, r.rating, r.review_count, made.stars, r.review_count, made.stars, r.review_count, 'epoch',
        made.tags, made.neighborhood, made.name, made.line1, made.document, made.sources, made.card
    FROM catalogue_restaurant AS r CROSS JOIN LATERAL restaurant_search_row(r) AS made
    WHERE r.id = ANY (ids)
        AND r.status NOT IN ('permanently_closed', 'moved') AND r.merged_into_id IS NULL AND r.erased_at IS NULL
    ORDER BY r.id
    ON CONFLICT (restaurant_id) DO UPDATE SET market = excluded.market, position = excluded.position,
        latitude = excluded.latitude, longitude = excluded.longitude, timezone = excluded.timezone,
        is_shut = excluded.is_shut, cuisines = excluded.cuisines, price_level = excluded.price_level,
        rating = excluded.rating, review_count = excluded.review_count, tags = excluded.tags,
        neighborhood = excluded.neighborhood, name = excluded.name, line1 = excluded.line1,
        document = excluded.document, sources = excluded.sources, card = excluded.card;
    PERFORM rank_restaurants(ids, clock_timestamp());
    INSERT INTO catalogue_kitchen AS held (restaurant_id, cuisine, position, price_level, rating)
    SELECT r.id, kind.cuisine, r.position, r.price_level, r.rating
    FROM catalogue_restaurant AS r CROSS JOIN LATERAL (SELECT DISTINCT unnest(r.cuisines) AS cuisine) AS kind
    WHERE r.id = ANY (ids)
        AND r.status NOT IN ('permanently_closed', 'moved') AND r.merged_into_id IS NULL AND r.erased_at IS NULL
    ORDER BY r.id, kind.cuisine
    ON CONFLICT (restaurant_id, cuisine) DO UPDATE SET position = excluded.position,
        price_level = excluded.price_level, rating = excluded.rating
    WHERE (held.position IS NOT NULL, held.position[0], held.position[1], held.price_level, held.rating)
        IS DISTINCT FROM (excluded.position IS NOT NULL, excluded.position[0], excluded.position[1],
            excluded.price_level, excluded.rating);
END
$$;
CREATE FUNCTION public.render_related_restaurants() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM render_restaurants(ARRAY(SELECT DISTINCT restaurant_id FROM changed_rows));
    RETURN NULL;
END
$$;
CREATE FUNCTION public.render_restaurants(ids uuid[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM FROM catalogue_restaurant WHERE id = ANY (ids) ORDER BY id FOR NO KEY UPDATE;
    PERFORM render_locked_restaurants(ids);
END
$$;
CREATE FUNCTION public.restaurant_document(name text, alt_names text[], cuisines text[], neighborhood text) RETURNS tsvector
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT setweight(to_tsvector('pg_catalog.simple', public.fold(name || ' ' || array_to_string(alt_names, ' '))), 'A')
        || setweight(to_tsvector('pg_catalog.simple', public.fold(array_to_string(cuisines, ' '))), 'B')
        || setweight(to_tsvector('pg_catalog.simple', public.fold(coalesce(neighborhood, ''))), 'C')
$$;


CREATE TABLE public.catalogue_restaurant (
    id uuid NOT NULL,
    slug character varying(120) NOT NULL,
    name character varying(200) NOT NULL,
    alt_names character varying(200)[] NOT NULL,
    status character varying(20) NOT NULL,
    market_id character varying(40) NOT NULL,
    neighborhood character varying(120),
    line1 character varying(200),
    locality character varying(120),
    region character varying(120),
    postal_code character varying(20),
    country character varying(2) NOT NULL,
    latitude double precision,
    longitude double precision,
    "position" point GENERATED ALWAYS AS (public.mercator(latitude, longitude)) STORED,
    phone character varying(16),
    phone_verified_at timestamp with time zone,
    website character varying(500),
    rating numeric(2,1),
    review_count integer NOT NULL,
    star_counts integer[] NOT NULL,
    review_facets jsonb DEFAULT '{}'::jsonb NOT NULL,
    price_level integer,
    cuisine_id character varying(60),
    cuisines character varying(60)[] NOT NULL,
    hours jsonb,
    attributes jsonb NOT NULL,
    external_ids jsonb NOT NULL,
    verified_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    version integer NOT NULL,
    merged_into_id uuid,
    erased_at timestamp with time zone,
    locked_fields character varying(40)[] DEFAULT '{}'::character varying(40)[] NOT NULL,
    description character varying(1000),
    menu_url character varying(500),
    CONSTRAINT catalogue_restaurant_review_count_check CHECK ((review_count >= 0)),
    CONSTRAINT catalogue_restaurant_version_check CHECK ((version >= 0)),
    CONSTRAINT restaurant_attributes_is_object CHECK ((jsonb_typeof(attributes) = 'object'::text)),
    CONSTRAINT restaurant_country_code_valid CHECK (((country)::text ~ '^[A-Z]{2}$'::text)),
    CONSTRAINT restaurant_external_ids_is_object CHECK ((jsonb_typeof(external_ids) = 'object'::text)),
    CONSTRAINT restaurant_location_valid CHECK ((((latitude IS NULL) AND (longitude IS NULL)) OR ((latitude IS NOT NULL) AND (latitude BETWEEN ('-85.0'::numeric)::double precision AND (85.0)::double precision) AND (longitude IS NOT NULL) AND (longitude BETWEEN ('-180.0'::numeric)::double precision AND (180.0)::double precision)))),
    CONSTRAINT restaurant_not_merged_into_itself CHECK (((merged_into_id IS NULL) OR (NOT ((merged_into_id = id) AND (merged_into_id IS NOT NULL))))),
    CONSTRAINT restaurant_phone_is_e164 CHECK (((phone)::text ~ '^\+[1-9][0-9]{6,14}$'::text)),
    CONSTRAINT restaurant_price_level_in_1_to_4 CHECK ((price_level BETWEEN 1 AND 4)),
    CONSTRAINT restaurant_rating_in_1_to_5 CHECK ((rating BETWEEN (1)::numeric AND (5)::numeric)),
    CONSTRAINT restaurant_slug_is_lowercase CHECK (((slug)::text ~ '^[a-z0-9]+(-[a-z0-9]+)*$'::text))
);
CREATE FUNCTION public.restaurant_record(r public.catalogue_restaurant) RETURNS TABLE(timezone text, hours_known boolean, before text, hours text, after text, sources character varying[])
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
SELECT
    market.timezone,
    coalesce((valid.hours ->> 'known')::boolean, false),
    public.json_members(row_to_json(before)),
    public.json_members(row_to_json(opening)),
    public.json_members(row_to_json(after)),
    origin.keys
FROM catalogue_market AS market
LEFT JOIN catalogue_cuisine AS cuisine ON cuisine.slug = r.cuisine_id
CROSS JOIN LATERAL (
    SELECT CASE WHEN jsonb_typeof(r.hours -> 'periods') = 'array'
        AND jsonb_typeof(r.hours -> 'special_days') = 'array' THEN r.hours END AS hours
) AS valid
CROSS JOIN LATERAL (
    SELECT
        concat_ws(' ', nullif(r.postal_code, ''), nullif(r.locality, '')) AS town,
        nullif(r.line1, '') AS line1,
        nullif(r.region, '') AS region
) AS place
CROSS JOIN LATERAL (
    SELECT
        coalesce(array_agg(DISTINCT record.source_id ORDER BY record.source_id), '{}') AS keys,
        coalesce(json_agg(json_build_object(
            'source', record.source_id, 'record', record.record, 'license', source.license,
            'updated_at', public.api_timestamp(record.updated_at), 'fields', record.fields
        ) ORDER BY record.source_id, record.record), '[]') AS records
    FROM catalogue_sourcerecord AS record
    JOIN catalogue_source AS source ON source.key = record.source_id
    WHERE record.restaurant_id = r.id
) AS origin
CROSS JOIN LATERAL (
    SELECT
        r.slug, r.name, public.public_id('rst', r.id) AS id, r.alt_names, r.status, r.market_id AS market,
        r.neighborhood,
        json_build_object(
            'line1', r.line1, 'locality', r.locality, 'region', r.region, 'postal_code', r.postal_code,
            'country', r.country,
            'formatted', CASE WHEN concat(place.line1, place.town, place.region) <> ''
                THEN concat_ws(', ', place.line1, nullif(place.town, ''), place.region, r.country) END
        ) AS address,
        CASE WHEN r.latitude IS NOT NULL THEN json_build_object('lat', r.latitude, 'lng', r.longitude) END AS location,
        r.phone, r.phone_verified_at IS NOT NULL AS phone_verified,
        public.api_timestamp(r.phone_verified_at) AS phone_verified_at, r.website, r.menu_url, r.description,
        r.rating, r.review_count, r.price_level, cuisine.label AS cuisine, r.cuisines
) AS before
CROSS JOIN LATERAL (
    SELECT
        coalesce(valid.hours ->> 'timezone', market.timezone) AS timezone,
        coalesce(valid.hours -> 'periods', '[]') AS periods,
        coalesce(valid.hours -> 'special_days', '[]') AS special_days,
        coalesce(valid.hours -> 'display', '[]') AS display,
        valid.hours ->> 'osm' AS osm
) AS opening
CROSS JOIN LATERAL (
    SELECT
        r.attributes, r.external_ids, origin.records AS sources,
        (
            SELECT coalesce(json_agg(json_build_object(
                'source', source.key, 'text', source.attribution, 'license', source.license
            ) ORDER BY source.key), '[]')
            FROM catalogue_source AS source WHERE source.key = ANY (origin.keys)
        ) AS attribution,
        public.api_timestamp(r.verified_at) AS verified_at, public.api_timestamp(r.updated_at) AS updated_at, r.version
) AS after
WHERE market.slug = r.market_id
$$;
CREATE FUNCTION public.restaurant_search_row(r public.catalogue_restaurant) RETURNS TABLE(timezone text, is_shut boolean, stars integer, tags character varying[], neighborhood text, name text, line1 text, document tsvector, sources character varying[], card text)
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $_$
SELECT
    market.timezone,
    r.status = 'temporarily_closed',
    (coalesce(r.rating, 0) * 10)::integer,
    ARRAY(
        -- Limited access does not suffice for who needs it.
        SELECT tag::varchar FROM (
            SELECT key AS tag FROM jsonb_each(r.attributes)
            WHERE value NOT IN ('false', '"no"', '"limited"', 'null', '""')
            -- For a degree: `wheelchair:limited`, `diet_vegan:only`.
            UNION ALL SELECT key || ':' || (r.attributes ->> key) FROM jsonb_each(r.attributes)
            WHERE jsonb_typeof(value) = 'string' AND key <> 'kind' AND value NOT IN ('"no"', '"yes"', '""')
                -- Longer texts are no degrees, and fit into no tag.
                AND length(key || ':' || (r.attributes ->> key)) <= 40
            -- For the parameters `kind` and `kind_not`.
            UNION ALL SELECT 'kind_' || (r.attributes ->> 'kind') WHERE jsonb_typeof(r.attributes -> 'kind') = 'string'
        ) AS tags ORDER BY tag
    ),
    public.fold(r.neighborhood),
    left(public.fold(r.name), 200),
    left(public.fold(r.line1), 200),
    public.restaurant_document(r.name, r.alt_names, r.cuisines, r.neighborhood) || setweight(to_tsvector(
        'pg_catalog.simple', public.fold(coalesce((
            SELECT string_agg(dish ->> 'name', ' ')
            FROM catalogue_insight AS insight, jsonb_path_query(insight.detail, '$.dishes[*]') AS dish
            WHERE insight.restaurant_id = r.id AND NOT insight.hidden
        ), ''))
    ), 'D'),
    ARRAY(
        SELECT DISTINCT record.source_id FROM catalogue_sourcerecord AS record
        WHERE record.restaurant_id = r.id ORDER BY record.source_id
    ),
    public.json_members(row_to_json(card))
FROM catalogue_market AS market
LEFT JOIN catalogue_cuisine AS cuisine ON cuisine.slug = r.cuisine_id
CROSS JOIN LATERAL (
    SELECT r.slug, r.name, r.neighborhood, r.market_id AS market, r.rating, r.review_count, r.price_level,
        cuisine.label AS cuisine, r.cuisines, r.phone,
        CASE WHEN r.latitude IS NOT NULL THEN json_build_object('lat', r.latitude, 'lng', r.longitude) END AS location
) AS card
WHERE market.slug = r.market_id
$_$;
CREATE FUNCTION public.set_payment_account() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    NEW.account_id := (SELECT account_id FROM payments_wallet WHERE address = NEW.payer);
    RETURN NEW;
END
$$;
CREATE FUNCTION public.set_updated_at() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    NEW.updated_at := now();
    RETURN NEW;
END
$$;
CREATE FUNCTION public.touch_landmark() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    UPDATE catalogue_landmark SET updated_at = now() WHERE id = coalesce(NEW.landmark_id, OLD.landmark_id);
    RETURN NULL;
END
$$;
CREATE FUNCTION public.touch_records_on_insight_delete() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    UPDATE catalogue_record AS held SET updated_at = now()
    FROM deleted_rows WHERE held.restaurant_id = deleted_rows.restaurant_id;
    RETURN NULL;
END
$$;
CREATE FUNCTION public.touch_records_on_review_figures() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    UPDATE catalogue_record AS held SET updated_at = now()
    FROM old_rows AS old_row JOIN new_rows AS new_row ON new_row.id = old_row.id
    WHERE held.restaurant_id = new_row.id AND held.updated_at <> now()
        AND (old_row.star_counts, old_row.review_facets) IS DISTINCT FROM (new_row.star_counts, new_row.review_facets);
    RETURN NULL;
END
$$;
CREATE FUNCTION public.unversioned_columns() RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN '{version,updated_at,locked_fields,position,star_counts,review_facets}'::text[];
CREATE FUNCTION public.update_record_counts() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO accounts_recordcount AS counted (venue_id, record_type, status, total)
        SELECT venue_id, TG_ARGV[0], status, count(*) FROM added GROUP BY venue_id, status ORDER BY venue_id, status
        ON CONFLICT (venue_id, record_type, status) DO UPDATE SET total = counted.total + excluded.total;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO accounts_recordcount AS counted (venue_id, record_type, status, total)
        SELECT venue_id, TG_ARGV[0], status, -count(*) FROM removed GROUP BY venue_id, status ORDER BY venue_id, status
        ON CONFLICT (venue_id, record_type, status) DO UPDATE SET total = counted.total + excluded.total;
    ELSE
        INSERT INTO accounts_recordcount AS counted (venue_id, record_type, status, total)
        SELECT venue_id, TG_ARGV[0], status, sum(change)
        FROM (
            SELECT venue_id, status, 1 AS change FROM added
            UNION ALL SELECT venue_id, status, -1 FROM removed
        ) AS changes
        GROUP BY venue_id, status HAVING sum(change) <> 0 ORDER BY venue_id, status
        ON CONFLICT (venue_id, record_type, status) DO UPDATE SET total = counted.total + excluded.total;
    END IF;
    RETURN NULL;
END $$;
CREATE TABLE public.account_emailaddress (
    id integer NOT NULL,
    email character varying(254) NOT NULL,
    verified boolean NOT NULL,
    "primary" boolean NOT NULL,
    user_id bigint NOT NULL
);
ALTER TABLE public.account_emailaddress ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.account_emailaddress_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.account_emailconfirmation (
    id integer NOT NULL,
    created timestamp with time zone NOT NULL,
    sent timestamp with time zone,
    key character varying(64) NOT NULL,
    email_address_id integer NOT NULL
);
ALTER TABLE public.account_emailconfirmation ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.account_emailconfirmation_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.accounts_account (
    id uuid NOT NULL,
    name character varying(200) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    closed_at timestamp with time zone
);
CREATE TABLE public.accounts_alert (
    id uuid NOT NULL,
    state character varying(7) NOT NULL,
    event_id uuid NOT NULL,
    subscription_id uuid NOT NULL
);
CREATE TABLE public.accounts_alertsubscription (
    id uuid NOT NULL,
    channel character varying(4) NOT NULL,
    kinds character varying(32)[] NOT NULL,
    quiet_from time without time zone,
    quiet_until time without time zone,
    next_send_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    attempts smallint DEFAULT 0 NOT NULL,
    membership_id bigint NOT NULL,
    venue_id uuid NOT NULL,
    CONSTRAINT accounts_alertsubscription_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT alert_quiet_hours_have_start_and_end CHECK ((((quiet_from IS NULL) AND (quiet_until IS NULL)) OR ((quiet_from IS NOT NULL) AND (quiet_until IS NOT NULL) AND (NOT ((quiet_from = quiet_until) AND (quiet_from IS NOT NULL) AND (quiet_until IS NOT NULL))))))
);
CREATE TABLE public.accounts_apicall (
    id uuid NOT NULL,
    venue_id uuid NOT NULL,
    key_id uuid NOT NULL,
    method character varying(10) NOT NULL,
    path character varying(500) NOT NULL,
    query character varying(1000) NOT NULL,
    status smallint NOT NULL,
    error_code character varying(40) NOT NULL,
    duration_ms integer NOT NULL,
    address inet,
    user_agent character varying(200) NOT NULL,
    body text NOT NULL,
    answer text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT accounts_apicall_duration_ms_check CHECK ((duration_ms >= 0)),
    CONSTRAINT accounts_apicall_status_check CHECK ((status >= 0))
);
CREATE TABLE public.accounts_apicallcount (
    id bigint NOT NULL,
    venue_id uuid NOT NULL,
    hour timestamp with time zone NOT NULL,
    calls integer NOT NULL,
    client_errors integer NOT NULL,
    server_errors integer NOT NULL,
    CONSTRAINT accounts_apicallcount_calls_check CHECK ((calls >= 0)),
    CONSTRAINT accounts_apicallcount_client_errors_check CHECK ((client_errors >= 0)),
    CONSTRAINT accounts_apicallcount_server_errors_check CHECK ((server_errors >= 0))
);
ALTER TABLE public.accounts_apicallcount ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.accounts_apicallcount_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.accounts_apikey (
    id uuid NOT NULL,
    venue_id uuid NOT NULL,
    family uuid NOT NULL,
    name character varying(100) NOT NULL,
    digest bytea NOT NULL,
    start character varying(12) NOT NULL,
    "end" character varying(4) NOT NULL,
    scopes character varying(20)[] NOT NULL,
    allowance integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    last_used_at timestamp with time zone,
    last_used_ip inet,
    app_id uuid,
    has_data_access boolean DEFAULT true NOT NULL,
    CONSTRAINT accounts_apikey_allowance_check CHECK ((allowance >= 0)),
    CONSTRAINT api_key_allowance_positive CHECK ((allowance >= 1)),
    CONSTRAINT api_key_scopes_known CHECK ((scopes <@ ARRAY['orders:read'::character varying(20), 'orders:write'::character varying(20), 'menu:write'::character varying(20), 'reservations:read'::character varying(20), 'reservations:write'::character varying(20), 'webhooks:read'::character varying(20), 'webhooks:write'::character varying(20)]))
);
CREATE TABLE public.accounts_apikeychange (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    pgh_obj_id uuid NOT NULL,
    pgh_context jsonb,
    id uuid NOT NULL,
    venue_id uuid NOT NULL,
    family uuid NOT NULL,
    name character varying(100) NOT NULL,
    start character varying(12) NOT NULL,
    "end" character varying(4) NOT NULL,
    scopes character varying(20)[] NOT NULL,
    allowance integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    app_id uuid,
    has_data_access boolean DEFAULT true NOT NULL,
    CONSTRAINT accounts_apikeychange_allowance_check CHECK ((allowance >= 0))
);
ALTER TABLE public.accounts_apikeychange ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.accounts_apikeychange_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.accounts_apikeychangecounter (
    id bigint NOT NULL,
    number bigint NOT NULL,
    CONSTRAINT api_key_change_counter_one_row CHECK ((id = 1))
);
ALTER TABLE public.accounts_apikeychangecounter ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.accounts_apikeychangecounter_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.accounts_assignment (
    id uuid NOT NULL,
    queue character varying(100) NOT NULL,
    object_id character varying(64) NOT NULL,
    assigned_at timestamp with time zone NOT NULL,
    user_id bigint NOT NULL
);
CREATE TABLE public.accounts_demodata (
    venue_id uuid NOT NULL,
    filled_at timestamp with time zone
);
CREATE TABLE public.accounts_event (
    id uuid NOT NULL,
    venue_id uuid,
    account_id uuid,
    type character varying(32) NOT NULL,
    subject uuid,
    actor character varying(300) NOT NULL,
    record jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT event_has_venue_or_account CHECK ((((account_id IS NULL) AND (venue_id IS NOT NULL)) OR ((account_id IS NOT NULL) AND (venue_id IS NULL))))
);
CREATE TABLE public.accounts_idempotentcall (
    id uuid NOT NULL,
    scope character varying(64) NOT NULL,
    key character varying(255) NOT NULL,
    operation character varying(255) NOT NULL,
    body_sha256 bytea NOT NULL,
    status smallint,
    headers jsonb NOT NULL,
    body bytea,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT accounts_idempotentcall_status_check CHECK ((status >= 0)),
    CONSTRAINT idempotent_call_has_status_and_body_or_neither CHECK ((((body IS NULL) AND (status IS NULL)) OR ((body IS NOT NULL) AND (status IS NOT NULL))))
);
CREATE TABLE public.accounts_invitation (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    email character varying(254) NOT NULL,
    role character varying(20) NOT NULL,
    is_limited boolean DEFAULT false NOT NULL,
    invited_by_id bigint,
    digest bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    accepted_at timestamp with time zone,
    withdrawn_at timestamp with time zone,
    CONSTRAINT invitation_not_accepted_and_withdrawn CHECK (((accepted_at IS NULL) OR (withdrawn_at IS NULL)))
);
CREATE TABLE public.accounts_invitation_venues (
    id bigint NOT NULL,
    invitation_id uuid NOT NULL,
    venue_id uuid NOT NULL
);
ALTER TABLE public.accounts_invitation_venues ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.accounts_invitation_venues_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.accounts_membership (
    id bigint NOT NULL,
    account_id uuid NOT NULL,
    user_id bigint NOT NULL,
    role character varying(20) NOT NULL,
    is_limited boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone NOT NULL
);
ALTER TABLE public.accounts_membership ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.accounts_membership_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.accounts_membership_venues (
    id bigint NOT NULL,
    membership_id bigint NOT NULL,
    venue_id uuid NOT NULL
);
ALTER TABLE public.accounts_membership_venues ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.accounts_membership_venues_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.accounts_membershipchange (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    pgh_obj_id bigint NOT NULL,
    pgh_context jsonb,
    id bigint NOT NULL,
    account_id uuid NOT NULL,
    user_id bigint NOT NULL,
    role character varying(20) NOT NULL,
    is_limited boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone NOT NULL
);
ALTER TABLE public.accounts_membershipchange ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.accounts_membershipchange_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.accounts_oauthapp (
    id uuid NOT NULL,
    kind character varying(10) NOT NULL,
    document_url character varying(500),
    document_read_at timestamp with time zone,
    name character varying(100) NOT NULL,
    redirect_uris character varying(500)[] NOT NULL,
    secret_digest bytea,
    secret_end character varying(4) NOT NULL,
    own_scopes character varying(20)[] NOT NULL,
    created_at timestamp with time zone NOT NULL,
    disabled_at timestamp with time zone,
    account_id uuid,
    CONSTRAINT oauth_app_document_has_url CHECK ((((document_url IS NOT NULL) AND ((kind)::text = 'document'::text)) OR ((NOT ((kind)::text = 'document'::text)) AND (document_url IS NULL)))),
    CONSTRAINT oauth_app_only_registered_has_secret CHECK ((((kind)::text = 'registered'::text) OR ((own_scopes = '{}'::character varying(20)[]) AND (secret_digest IS NULL)))),
    CONSTRAINT oauth_app_registered_by_account CHECK ((((account_id IS NOT NULL) AND ((kind)::text = 'registered'::text)) OR ((NOT ((kind)::text = 'registered'::text)) AND (account_id IS NULL)))),
    CONSTRAINT oauth_app_scopes_known CHECK ((own_scopes <@ ARRAY['orders:read'::character varying(20), 'orders:write'::character varying(20), 'menu:write'::character varying(20), 'reservations:read'::character varying(20), 'reservations:write'::character varying(20), 'webhooks:read'::character varying(20), 'webhooks:write'::character varying(20), 'data'::character varying(20)]))
);
CREATE TABLE public.accounts_oauthcode (
    digest bytea NOT NULL,
    redirect_uri character varying(500) NOT NULL,
    code_challenge character varying(128) NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    grant_id uuid NOT NULL
);
CREATE TABLE public.accounts_oauthgrant (
    id uuid NOT NULL,
    resource character varying(10) NOT NULL,
    scopes character varying(20)[] NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    last_used_at timestamp with time zone,
    account_id uuid NOT NULL,
    app_id uuid NOT NULL,
    user_id bigint,
    venue_id uuid,
    CONSTRAINT oauth_grant_data_has_no_venue CHECK ((((resource)::text = 'management'::text) OR (venue_id IS NULL))),
    CONSTRAINT oauth_grant_scopes_known CHECK (((scopes <@ ARRAY['orders:read'::character varying(20), 'orders:write'::character varying(20), 'menu:write'::character varying(20), 'reservations:read'::character varying(20), 'reservations:write'::character varying(20), 'webhooks:read'::character varying(20), 'webhooks:write'::character varying(20), 'data'::character varying(20)]) AND (NOT (scopes = '{}'::character varying(20)[]))))
);
CREATE TABLE public.accounts_oauthtoken (
    id uuid NOT NULL,
    kind character varying(10) NOT NULL,
    digest bytea NOT NULL,
    scopes character varying(20)[] NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    revoked_at timestamp with time zone,
    grant_id uuid NOT NULL,
    CONSTRAINT oauth_token_only_refresh_is_used CHECK ((((kind)::text = 'refresh'::text) OR (used_at IS NULL)))
);
CREATE TABLE public.accounts_outgoingmail (
    id uuid NOT NULL,
    address character varying(254) NOT NULL,
    subject character varying(300) NOT NULL,
    text text NOT NULL,
    topic character varying(40) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    next_attempt_at timestamp with time zone NOT NULL
);
CREATE TABLE public.accounts_pushdevice (
    id uuid NOT NULL,
    endpoint character varying(1000) NOT NULL,
    public_key bytea NOT NULL,
    auth_secret bytea NOT NULL,
    name character varying(100) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    user_id bigint NOT NULL,
    server_key bytea DEFAULT '\x'::bytea NOT NULL
);
CREATE TABLE public.accounts_recordcount (
    id bigint NOT NULL,
    venue_id uuid NOT NULL,
    record_type character varying(12) NOT NULL,
    status character varying(10) NOT NULL,
    total bigint NOT NULL
);
ALTER TABLE public.accounts_recordcount ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.accounts_recordcount_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.accounts_sandboxclock (
    venue_id uuid NOT NULL,
    "offset" interval NOT NULL,
    ran_until timestamp with time zone NOT NULL,
    leased_until timestamp with time zone,
    CONSTRAINT sandbox_clock_is_0_to_3660_days_ahead CHECK ((("offset" >= '00:00:00'::interval) AND ("offset" <= '3660 days'::interval)))
);
CREATE TABLE public.accounts_savedfilter (
    id uuid NOT NULL,
    list_name character varying(100) NOT NULL,
    name character varying(60) NOT NULL,
    query character varying(2000) NOT NULL,
    is_shared boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    user_id bigint NOT NULL
);
CREATE TABLE public.accounts_staffaccess (
    id uuid NOT NULL,
    email character varying(254) NOT NULL,
    opened_at timestamp with time zone NOT NULL,
    venue_id uuid NOT NULL
);
CREATE TABLE public.accounts_user (
    id bigint NOT NULL,
    password character varying(128) NOT NULL,
    last_login timestamp with time zone,
    is_superuser boolean NOT NULL,
    first_name character varying(150) NOT NULL,
    last_name character varying(150) NOT NULL,
    is_staff boolean NOT NULL,
    is_active boolean NOT NULL,
    date_joined timestamp with time zone NOT NULL,
    email character varying(254) NOT NULL,
    last_venue_id uuid,
    language character varying(10) DEFAULT ''::character varying NOT NULL
);
CREATE TABLE public.accounts_user_groups (
    id bigint NOT NULL,
    user_id bigint NOT NULL,
    group_id integer NOT NULL
);
ALTER TABLE public.accounts_user_groups ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.accounts_user_groups_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
ALTER TABLE public.accounts_user ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.accounts_user_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.accounts_user_user_permissions (
    id bigint NOT NULL,
    user_id bigint NOT NULL,
    permission_id integer NOT NULL
);
ALTER TABLE public.accounts_user_user_permissions ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.accounts_user_user_permissions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.accounts_venue (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    name character varying(200) NOT NULL,
    timezone character varying(64) NOT NULL,
    currency character varying(3) NOT NULL,
    is_sandbox boolean NOT NULL,
    max_days_ahead smallint NOT NULL,
    auto_confirm_max_party smallint NOT NULL,
    when_full character varying(10) NOT NULL,
    mails_guests boolean NOT NULL,
    prices_include_tax boolean NOT NULL,
    payment_methods character varying(40)[] NOT NULL,
    address character varying(300) DEFAULT ''::character varying NOT NULL,
    phone character varying(40) DEFAULT ''::character varying NOT NULL,
    is_bookable_online boolean DEFAULT false NOT NULL,
    proves_guests boolean DEFAULT false NOT NULL,
    forgets_guests_after_days smallint,
    created_at timestamp with time zone NOT NULL,
    language character varying(10) DEFAULT 'en'::character varying NOT NULL,
    CONSTRAINT accounts_venue_auto_confirm_max_party_check CHECK ((auto_confirm_max_party >= 0)),
    CONSTRAINT accounts_venue_forgets_guests_after_days_check CHECK ((forgets_guests_after_days >= 0)),
    CONSTRAINT accounts_venue_max_days_ahead_check CHECK ((max_days_ahead >= 0)),
    CONSTRAINT venue_confirms_parties_of_0_to_500 CHECK ((auto_confirm_max_party <= 500)),
    CONSTRAINT venue_currency_is_three_capitals CHECK (((currency)::text ~ '^[A-Z]{3}$'::text))
);
CREATE TABLE public.accounts_venuechange (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    pgh_obj_id uuid NOT NULL,
    pgh_context jsonb,
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    name character varying(200) NOT NULL,
    timezone character varying(64) NOT NULL,
    currency character varying(3) NOT NULL,
    is_sandbox boolean NOT NULL,
    max_days_ahead smallint NOT NULL,
    auto_confirm_max_party smallint NOT NULL,
    when_full character varying(10) NOT NULL,
    mails_guests boolean NOT NULL,
    prices_include_tax boolean NOT NULL,
    payment_methods character varying(40)[] NOT NULL,
    address character varying(300) DEFAULT ''::character varying NOT NULL,
    phone character varying(40) DEFAULT ''::character varying NOT NULL,
    is_bookable_online boolean DEFAULT false NOT NULL,
    proves_guests boolean DEFAULT false NOT NULL,
    forgets_guests_after_days smallint,
    created_at timestamp with time zone NOT NULL,
    language character varying(10) DEFAULT 'en'::character varying NOT NULL,
    CONSTRAINT accounts_venuechange_auto_confirm_max_party_check CHECK ((auto_confirm_max_party >= 0)),
    CONSTRAINT accounts_venuechange_forgets_guests_after_days_check CHECK ((forgets_guests_after_days >= 0)),
    CONSTRAINT accounts_venuechange_max_days_ahead_check CHECK ((max_days_ahead >= 0))
);
ALTER TABLE public.accounts_venuechange ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.accounts_venuechange_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.accounts_webhookdelivery (
    id uuid NOT NULL,
    event_id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    state character varying(10) NOT NULL,
    attempts smallint NOT NULL,
    next_attempt_at timestamp with time zone,
    leased_until timestamp with time zone,
    last_attempt_at timestamp with time zone,
    last_status smallint,
    last_response character varying(1024) NOT NULL,
    last_error character varying(300) NOT NULL,
    delivered_at timestamp with time zone,
    failed_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT accounts_webhookdelivery_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT accounts_webhookdelivery_last_status_check CHECK ((last_status >= 0)),
    CONSTRAINT webhook_delivery_delivered_has_time CHECK ((((delivered_at IS NOT NULL) AND ((state)::text = 'delivered'::text)) OR ((NOT ((state)::text = 'delivered'::text)) AND (delivered_at IS NULL)))),
    CONSTRAINT webhook_delivery_pending_has_next_attempt CHECK ((((next_attempt_at IS NOT NULL) AND ((state)::text = 'pending'::text)) OR ((NOT ((state)::text = 'pending'::text)) AND (next_attempt_at IS NULL))))
);
CREATE TABLE public.accounts_webhookendpoint (
    id uuid NOT NULL,
    venue_id uuid NOT NULL,
    url character varying(500) NOT NULL,
    description character varying(200) NOT NULL,
    types character varying(32)[] NOT NULL,
    secret bytea NOT NULL,
    old_secret bytea,
    old_secret_until timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    failing_since timestamp with time zone,
    is_slow boolean DEFAULT false NOT NULL,
    disabled_at timestamp with time zone,
    disabled_reason character varying(10),
    postponed_until timestamp with time zone,
    grant_id uuid,
    CONSTRAINT webhook_endpoint_disabled_has_reason CHECK ((((disabled_at IS NULL) AND (disabled_reason IS NULL)) OR ((disabled_at IS NOT NULL) AND (disabled_reason IS NOT NULL)))),
    CONSTRAINT webhook_old_secret_has_expiry CHECK ((((old_secret IS NULL) AND (old_secret_until IS NULL)) OR ((old_secret IS NOT NULL) AND (old_secret_until IS NOT NULL))))
);
CREATE TABLE public.accounts_webhookendpointchange (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    pgh_obj_id uuid NOT NULL,
    pgh_context jsonb,
    id uuid NOT NULL,
    venue_id uuid NOT NULL,
    url character varying(500) NOT NULL,
    description character varying(200) NOT NULL,
    types character varying(32)[] NOT NULL,
    old_secret_until timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    disabled_at timestamp with time zone,
    disabled_reason character varying(10),
    grant_id uuid
);
ALTER TABLE public.accounts_webhookendpointchange ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.accounts_webhookendpointchange_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.auth_group (
    id integer NOT NULL,
    name character varying(150) NOT NULL
);
ALTER TABLE public.auth_group ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.auth_group_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.auth_group_permissions (
    id bigint NOT NULL,
    group_id integer NOT NULL,
    permission_id integer NOT NULL
);
ALTER TABLE public.auth_group_permissions ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.auth_group_permissions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.auth_permission (
    id integer NOT NULL,
    name character varying(255) NOT NULL,
    content_type_id integer NOT NULL,
    codename character varying(100) NOT NULL
);
ALTER TABLE public.auth_permission ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.auth_permission_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.catalogue_attribute (
    key character varying(40) NOT NULL,
    label character varying(80) NOT NULL,
    kind character varying(10) NOT NULL,
    "values" character varying(40)[] NOT NULL,
    CONSTRAINT attribute_key_valid CHECK (((key)::text ~ '^[a-z][a-z0-9_]*$'::text))
);
CREATE TABLE public.catalogue_cuisine (
    slug character varying(60) NOT NULL,
    label character varying(80) NOT NULL,
    labels jsonb DEFAULT '{}'::jsonb NOT NULL,
    updated_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    parent_id character varying(60),
    synonyms character varying(80)[] DEFAULT '{}'::character varying(80)[] NOT NULL
);
CREATE TABLE public.catalogue_deposit (
    booking_id uuid NOT NULL,
    payment_id uuid NOT NULL
);
CREATE TABLE public.catalogue_export (
    id uuid NOT NULL,
    wallet_id character varying(42),
    payment_id uuid,
    dataset character varying(20) NOT NULL,
    format character varying(20) NOT NULL,
    filter jsonb NOT NULL,
    fields character varying(20)[] NOT NULL,
    since_export_id uuid,
    fingerprint character varying(64) NOT NULL,
    queue character varying(20) NOT NULL,
    status character varying(20) NOT NULL,
    rows_total bigint,
    rows bigint,
    manifest_sha256 character varying(64) NOT NULL,
    error character varying(500) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    restarted_at timestamp with time zone,
    snapshot_at timestamp with time zone,
    changes_from timestamp with time zone,
    generation integer NOT NULL,
    snapshots character varying(40)[] NOT NULL,
    finished_at timestamp with time zone,
    expires_at timestamp with time zone,
    CONSTRAINT catalogue_export_generation_check CHECK ((generation >= 0)),
    CONSTRAINT export_status_valid CHECK ((status = ANY (ARRAY['awaiting_payment'::character varying, 'queued'::character varying, 'running'::character varying, 'succeeded'::character varying, 'failed'::character varying, 'cancelled'::character varying, 'expired'::character varying]))),
    CONSTRAINT failed_export_requires_error CHECK (((NOT ((status)::text = 'failed'::text)) OR (NOT ((error)::text = ''::text)))),
    CONSTRAINT succeeded_export_requires_rows CHECK (((NOT ((status)::text = 'succeeded'::text)) OR ((expires_at IS NOT NULL) AND (rows IS NOT NULL))))
);
CREATE TABLE public.catalogue_exportpart (
    id bigint NOT NULL,
    export_id uuid NOT NULL,
    seq integer NOT NULL,
    kind character varying(10) NOT NULL,
    lo character varying(40),
    hi character varying(40),
    state character varying(20) NOT NULL,
    lease_until timestamp with time zone,
    token bigint NOT NULL,
    attempts integer NOT NULL,
    generation integer NOT NULL,
    horizon bigint,
    file character varying(100) NOT NULL,
    rows integer,
    bytes bigint,
    sha256 character varying(64) NOT NULL,
    sources character varying(40)[] NOT NULL,
    CONSTRAINT catalogue_exportpart_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT catalogue_exportpart_generation_check CHECK ((generation >= 0)),
    CONSTRAINT catalogue_exportpart_rows_check CHECK ((rows >= 0)),
    CONSTRAINT catalogue_exportpart_seq_check CHECK ((seq >= 0)),
    CONSTRAINT catalogue_exportpart_token_check CHECK ((token >= 0)),
    CONSTRAINT done_export_part_requires_rows CHECK (((NOT ((state)::text = 'done'::text)) OR ((bytes IS NOT NULL) AND (rows IS NOT NULL) AND (NOT ((sha256)::text = ''::text))))),
    CONSTRAINT export_part_state_valid CHECK ((state = ANY (ARRAY['queued'::character varying, 'claimed'::character varying, 'done'::character varying])))
);
ALTER TABLE public.catalogue_exportpart ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.catalogue_exportpart_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.catalogue_flowbooking (
    id uuid NOT NULL,
    slot_id uuid,
    reservation_id uuid NOT NULL,
    seats smallint NOT NULL,
    contact character varying(64) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    released_at timestamp with time zone,
    owner character varying(64) DEFAULT ''::character varying NOT NULL,
    phone_contact character varying(64) DEFAULT ''::character varying NOT NULL,
    CONSTRAINT catalogue_flowbooking_seats_check CHECK ((seats >= 0))
);
CREATE TABLE public.catalogue_flowrule (
    id bigint NOT NULL,
    restaurant_id uuid NOT NULL,
    weekdays integer[] NOT NULL,
    "time" time without time zone NOT NULL,
    until time without time zone,
    every_minutes smallint DEFAULT 30 NOT NULL,
    percent smallint NOT NULL,
    seats smallint DEFAULT 8 NOT NULL,
    party_min smallint DEFAULT 1 NOT NULL,
    party_max smallint DEFAULT 8 NOT NULL,
    applies_to character varying(10) DEFAULT 'food'::character varying NOT NULL,
    book_before_minutes smallint DEFAULT 30 NOT NULL,
    bookable_days smallint,
    terms character varying(500) DEFAULT ''::character varying NOT NULL,
    active boolean NOT NULL,
    source_record_id bigint,
    except_dates date[] DEFAULT '{}'::date[] NOT NULL,
    CONSTRAINT catalogue_flowrule_book_before_minutes_check CHECK ((book_before_minutes >= 0)),
    CONSTRAINT catalogue_flowrule_bookable_days_check CHECK ((bookable_days >= 0)),
    CONSTRAINT catalogue_flowrule_every_minutes_check CHECK ((every_minutes >= 0)),
    CONSTRAINT catalogue_flowrule_party_max_check CHECK ((party_max >= 0)),
    CONSTRAINT catalogue_flowrule_party_min_check CHECK ((party_min >= 0)),
    CONSTRAINT catalogue_flowrule_percent_check CHECK ((percent >= 0)),
    CONSTRAINT catalogue_flowrule_seats_check CHECK ((seats >= 0)),
    CONSTRAINT flow_rule_end_after_start CHECK (((until IS NULL) OR (until >= "time"))),
    CONSTRAINT flow_rule_party_within_seats CHECK (((party_max >= party_min) AND (party_min >= 1) AND (seats >= party_max))),
    CONSTRAINT flow_rule_percent_in_1_to_90 CHECK ((percent BETWEEN 1 AND 90)),
    CONSTRAINT flow_rule_steps_of_5_minutes_to_a_day CHECK ((every_minutes BETWEEN 5 AND 1440)),
    CONSTRAINT flow_rule_weekdays_in_0_to_6 CHECK (((weekdays <@ ARRAY[0, 1, 2, 3, 4, 5, 6]) AND (
CASE
    WHEN (weekdays IS NULL) THEN NULL::integer
    ELSE COALESCE(array_length(weekdays, 1), 0)
END >= 1)))
);
ALTER TABLE public.catalogue_flowrule ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.catalogue_flowrule_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.catalogue_flowslot (
    id uuid NOT NULL,
    rule_id bigint,
    restaurant_id uuid NOT NULL,
    starts_at timestamp with time zone NOT NULL,
    date date NOT NULL,
    "time" time without time zone NOT NULL,
    percent smallint NOT NULL,
    applies_to character varying(10) NOT NULL,
    party_min smallint NOT NULL,
    party_max smallint NOT NULL,
    seats smallint NOT NULL,
    seats_left smallint NOT NULL,
    bookable_from timestamp with time zone,
    book_before timestamp with time zone NOT NULL,
    terms character varying(500) NOT NULL,
    withdrawn_at timestamp with time zone,
    is_barred boolean DEFAULT false NOT NULL,
    CONSTRAINT catalogue_flowslot_party_max_check CHECK ((party_max >= 0)),
    CONSTRAINT catalogue_flowslot_party_min_check CHECK ((party_min >= 0)),
    CONSTRAINT catalogue_flowslot_percent_check CHECK ((percent >= 0)),
    CONSTRAINT catalogue_flowslot_seats_check CHECK ((seats >= 0)),
    CONSTRAINT flow_slot_percent_in_1_to_90 CHECK ((percent BETWEEN 1 AND 90)),
    CONSTRAINT slot_seats_left_within_seats CHECK ((seats_left BETWEEN 0 AND seats))
);
CREATE TABLE public.catalogue_formerslug (
    slug character varying(120) NOT NULL,
    restaurant_id uuid NOT NULL,
    until timestamp with time zone NOT NULL
);
CREATE TABLE public.catalogue_holiday (
    id bigint NOT NULL,
    market_id character varying(40) NOT NULL,
    date date NOT NULL,
    name character varying(120) NOT NULL,
    is_struck boolean NOT NULL
);
ALTER TABLE public.catalogue_holiday ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.catalogue_holiday_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.catalogue_importrun (
    id bigint NOT NULL,
    source_id character varying(40) NOT NULL,
    market_id character varying(40),
    file character varying(400) NOT NULL,
    forced boolean DEFAULT false NOT NULL,
    state character varying(10) NOT NULL,
    read integer NOT NULL,
    created integer NOT NULL,
    changed integer NOT NULL,
    unchanged integer NOT NULL,
    skipped integer NOT NULL,
    merged integer DEFAULT 0 NOT NULL,
    queued integer DEFAULT 0 NOT NULL,
    closed integer DEFAULT 0 NOT NULL,
    rejected integer NOT NULL,
    rejects_file character varying(400) NOT NULL,
    error text NOT NULL,
    started_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    incomplete integer DEFAULT 0 NOT NULL,
    reasons jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT catalogue_importrun_changed_check CHECK ((changed >= 0)),
    CONSTRAINT catalogue_importrun_closed_check CHECK ((closed >= 0)),
    CONSTRAINT catalogue_importrun_created_check CHECK ((created >= 0)),
    CONSTRAINT catalogue_importrun_incomplete_check CHECK ((incomplete >= 0)),
    CONSTRAINT catalogue_importrun_merged_check CHECK ((merged >= 0)),
    CONSTRAINT catalogue_importrun_queued_check CHECK ((queued >= 0)),
    CONSTRAINT catalogue_importrun_read_check CHECK ((read >= 0)),
    CONSTRAINT catalogue_importrun_rejected_check CHECK ((rejected >= 0)),
    CONSTRAINT catalogue_importrun_skipped_check CHECK ((skipped >= 0)),
    CONSTRAINT catalogue_importrun_unchanged_check CHECK ((unchanged >= 0))
);
ALTER TABLE public.catalogue_importrun ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.catalogue_importrun_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.catalogue_insight (
    restaurant_id uuid NOT NULL,
    text character varying(600) NOT NULL,
    detail jsonb NOT NULL,
    provider character varying(40) NOT NULL,
    provider_version character varying(20) NOT NULL,
    input_hash character varying(64) NOT NULL,
    review_count integer NOT NULL,
    restaurant_review_count integer NOT NULL,
    reviews_through timestamp with time zone NOT NULL,
    rating double precision,
    generated_at timestamp with time zone NOT NULL,
    failed_at timestamp with time zone,
    is_outdated boolean DEFAULT false NOT NULL,
    hidden boolean NOT NULL,
    model character varying(80) NOT NULL,
    cost_usd numeric(12,6) NOT NULL,
    approved_at timestamp with time zone,
    approved_by character varying(150) NOT NULL,
    updated_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    CONSTRAINT catalogue_insight_restaurant_review_count_check CHECK ((restaurant_review_count >= 0)),
    CONSTRAINT catalogue_insight_review_count_check CHECK ((review_count >= 0)),
    CONSTRAINT insight_min_reviews CHECK (((review_count >= 5) OR ((text)::text = ''::text)))
);
CREATE TABLE public.catalogue_insightcall (
    id uuid NOT NULL,
    restaurant_id uuid NOT NULL,
    provider character varying(40) NOT NULL,
    provider_version character varying(20) NOT NULL,
    model character varying(80) NOT NULL,
    input_hash character varying(64) NOT NULL,
    outcome character varying(10) NOT NULL,
    reason character varying(500) NOT NULL,
    input_tokens integer,
    output_tokens integer,
    cost_usd numeric(12,6) NOT NULL,
    started_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT catalogue_insightcall_input_tokens_check CHECK ((input_tokens >= 0)),
    CONSTRAINT catalogue_insightcall_output_tokens_check CHECK ((output_tokens >= 0)),
    CONSTRAINT ended_insight_call_requires_timestamp CHECK ((((ended_at IS NULL) AND ((outcome)::text = 'pending'::text)) OR ((NOT ((outcome)::text = 'pending'::text)) AND (ended_at IS NOT NULL)))),
    CONSTRAINT insight_call_cost_not_negative CHECK ((cost_usd >= (0)::numeric)),
    CONSTRAINT insight_call_outcome_valid CHECK ((outcome = ANY (ARRAY['pending'::character varying, 'written'::character varying, 'refused'::character varying, 'rejected'::character varying, 'failed'::character varying, 'dropped'::character varying])))
);
CREATE TABLE public.catalogue_insightdemand (
    restaurant_id uuid NOT NULL,
    request_count integer NOT NULL,
    first_requested_at timestamp with time zone NOT NULL,
    last_requested_at timestamp with time zone NOT NULL,
    CONSTRAINT catalogue_insightdemand_request_count_check CHECK ((request_count >= 0))
);
CREATE TABLE public.catalogue_kitchen (
    id bigint NOT NULL,
    restaurant_id uuid NOT NULL,
    cuisine character varying(60) NOT NULL,
    "position" point,
    price_level integer,
    rating numeric(2,1)
);
ALTER TABLE public.catalogue_kitchen ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.catalogue_kitchen_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.catalogue_landmark (
    id uuid NOT NULL,
    name character varying(200) NOT NULL,
    kind character varying(20) NOT NULL,
    market_id character varying(40),
    latitude double precision NOT NULL,
    longitude double precision NOT NULL,
    "position" point GENERATED ALWAYS AS (public.mercator(latitude, longitude)) STORED,
    prominence smallint NOT NULL,
    wikidata character varying(20),
    source_id character varying(40) NOT NULL,
    updated_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    CONSTRAINT catalogue_landmark_prominence_check CHECK ((prominence >= 0)),
    CONSTRAINT landmark_location_valid CHECK (((latitude BETWEEN ('-85.0'::numeric)::double precision AND (85.0)::double precision) AND (longitude BETWEEN ('-180.0'::numeric)::double precision AND (180.0)::double precision))),
    CONSTRAINT landmark_wikidata_is_a_qid CHECK (((wikidata)::text ~ '^Q[1-9][0-9]*$'::text))
);
CREATE TABLE public.catalogue_landmarkname (
    id bigint NOT NULL,
    landmark_id uuid NOT NULL,
    name character varying(200) NOT NULL,
    folded character varying(200) GENERATED ALWAYS AS (public.fold((name)::text)) STORED
);
ALTER TABLE public.catalogue_landmarkname ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.catalogue_landmarkname_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.catalogue_listing (
    id bigint NOT NULL,
    restaurant_id uuid NOT NULL,
    venue_id uuid NOT NULL,
    is_active boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    by_staff boolean DEFAULT false NOT NULL
);
ALTER TABLE public.catalogue_listing ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.catalogue_listing_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.catalogue_market (
    slug character varying(40) NOT NULL,
    name character varying(80) NOT NULL,
    country character varying(2) NOT NULL,
    timezone character varying(64) NOT NULL,
    currency character varying(3) NOT NULL,
    calling_code character varying(4) NOT NULL,
    latitude double precision NOT NULL,
    longitude double precision NOT NULL,
    radius_m integer NOT NULL,
    region character varying(20) DEFAULT ''::character varying NOT NULL,
    CONSTRAINT catalogue_market_radius_m_check CHECK ((radius_m >= 0)),
    CONSTRAINT market_calling_code_is_digits CHECK (((calling_code)::text ~ '^[1-9][0-9]{0,3}$'::text)),
    CONSTRAINT market_country_code_valid CHECK (((country)::text ~ '^[A-Z]{2}$'::text)),
    CONSTRAINT market_currency_code_valid CHECK (((currency)::text ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT market_location_valid CHECK (((latitude BETWEEN ('-85.0'::numeric)::double precision AND (85.0)::double precision) AND (longitude BETWEEN ('-180.0'::numeric)::double precision AND (180.0)::double precision))),
    CONSTRAINT market_radius_in_1_m_to_500_km CHECK ((radius_m BETWEEN 1 AND 500000))
);
CREATE TABLE public.catalogue_matchcandidate (
    id bigint NOT NULL,
    first_id uuid NOT NULL,
    second_id uuid NOT NULL,
    score double precision NOT NULL,
    reasons jsonb NOT NULL,
    state character varying(10) NOT NULL,
    found_at timestamp with time zone NOT NULL,
    decided_at timestamp with time zone,
    decided_by_id bigint,
    CONSTRAINT match_candidate_ids_ordered CHECK ((first_id < second_id))
);
ALTER TABLE public.catalogue_matchcandidate ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.catalogue_matchcandidate_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.catalogue_neighborhoodchange (
    id bigint NOT NULL,
    latitude double precision NOT NULL,
    longitude double precision NOT NULL,
    after uuid DEFAULT '00000000-0000-0000-0000-000000000000'::uuid NOT NULL
);
ALTER TABLE public.catalogue_neighborhoodchange ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.catalogue_neighborhoodchange_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.catalogue_photo (
    id uuid NOT NULL,
    restaurant_id uuid NOT NULL,
    review_id uuid,
    kind character varying(10) NOT NULL,
    caption character varying(300),
    alt character varying(300) NOT NULL,
    author character varying(120),
    license character varying(60) NOT NULL,
    source_id character varying(40) NOT NULL,
    width integer NOT NULL,
    height integer NOT NULL,
    file character varying(200) NOT NULL,
    card_seed bigint,
    is_hidden boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    CONSTRAINT catalogue_photo_height_check CHECK ((height >= 0)),
    CONSTRAINT catalogue_photo_width_check CHECK ((width >= 0)),
    CONSTRAINT photo_file_xor_card_seed CHECK ((((card_seed IS NOT NULL) AND ((file)::text = ''::text)) OR ((NOT ((file)::text = ''::text)) AND (card_seed IS NULL)))),
    CONSTRAINT photo_size_positive CHECK (((height >= 1) AND (width >= 1)))
);
CREATE TABLE public.catalogue_photoimport (
    id bigint NOT NULL,
    record character varying(200) NOT NULL,
    url character varying(500) NOT NULL,
    kind character varying(10) NOT NULL,
    caption character varying(300),
    alt character varying(300) NOT NULL,
    author character varying(120),
    license character varying(60) NOT NULL,
    state character varying(10) NOT NULL,
    tries smallint NOT NULL,
    next_try_at timestamp with time zone NOT NULL,
    error character varying(300) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    photo_id uuid,
    restaurant_id uuid NOT NULL,
    source_id character varying(40) NOT NULL,
    CONSTRAINT catalogue_photoimport_tries_check CHECK ((tries >= 0))
);
ALTER TABLE public.catalogue_photoimport ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.catalogue_photoimport_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.catalogue_record (
    restaurant_id uuid NOT NULL,
    slug character varying(120) NOT NULL,
    status character varying(20) NOT NULL,
    timezone character varying(64) NOT NULL,
    hours_known boolean NOT NULL,
    before text NOT NULL,
    hours text NOT NULL,
    after text NOT NULL,
    sources character varying(40)[] NOT NULL,
    updated_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL
);
CREATE TABLE public.catalogue_removal (
    id bigint NOT NULL,
    dataset character varying(20) NOT NULL,
    key character varying(60) NOT NULL,
    at timestamp with time zone NOT NULL
);
ALTER TABLE public.catalogue_removal ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.catalogue_removal_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.catalogue_report (
    id uuid NOT NULL,
    restaurant_id uuid NOT NULL,
    kind character varying(20) NOT NULL,
    text character varying(1000) NOT NULL,
    same_as_id uuid,
    contact character varying(254) NOT NULL,
    reporter character varying(64) NOT NULL,
    state character varying(10) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    decided_at timestamp with time zone,
    decided_by_id bigint,
    CONSTRAINT decided_report_requires_timestamp CHECK ((((decided_at IS NULL) AND ((state)::text = 'open'::text)) OR ((NOT ((state)::text = 'open'::text)) AND (decided_at IS NOT NULL))))
);
CREATE TABLE public.catalogue_restaurantclaim (
    id uuid NOT NULL,
    method character varying(10) NOT NULL,
    state character varying(10) NOT NULL,
    note character varying(500) NOT NULL,
    address character varying(254) NOT NULL,
    code_hash character varying(64) NOT NULL,
    attempts smallint NOT NULL,
    code_expires_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    decided_at timestamp with time zone,
    reason character varying(300) NOT NULL,
    decided_by_id bigint,
    requested_by_id bigint,
    restaurant_id uuid NOT NULL,
    venue_id uuid NOT NULL,
    CONSTRAINT catalogue_restaurantclaim_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT decided_claim_requires_timestamp CHECK ((((decided_at IS NULL) AND (state = ANY (ARRAY['code_sent'::character varying, 'open'::character varying]))) OR ((NOT (state = ANY (ARRAY['code_sent'::character varying, 'open'::character varying]))) AND (decided_at IS NOT NULL))))
);
CREATE TABLE public.catalogue_review (
    id uuid NOT NULL,
    restaurant_id uuid NOT NULL,
    stars integer NOT NULL,
    text text NOT NULL,
    lang character varying(8) NOT NULL,
    author character varying(120) NOT NULL,
    visited_on date,
    helpful_count integer NOT NULL,
    photo_count smallint DEFAULT 0 NOT NULL,
    owner_reply text,
    owner_replied_at timestamp with time zone,
    source_id character varying(40) NOT NULL,
    record character varying(120),
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    rating numeric(2,1),
    keeps_reply boolean DEFAULT false NOT NULL,
    reply_locked boolean DEFAULT false NOT NULL,
    CONSTRAINT catalogue_review_helpful_count_check CHECK ((helpful_count >= 0)),
    CONSTRAINT catalogue_review_photo_count_check CHECK ((photo_count >= 0)),
    CONSTRAINT review_rating_rounds_to_stars CHECK (((rating IS NULL) OR ((rating BETWEEN (1)::numeric AND (5)::numeric) AND ((stars)::numeric = round(rating, 0))))),
    CONSTRAINT review_reply_requires_timestamp CHECK ((((owner_replied_at IS NULL) AND (owner_reply IS NULL)) OR ((owner_replied_at IS NOT NULL) AND (owner_reply IS NOT NULL)))),
    CONSTRAINT review_stars_in_1_to_5 CHECK ((stars BETWEEN 1 AND 5))
);
CREATE TABLE public.catalogue_reviewchange (
    id bigint NOT NULL,
    restaurant uuid NOT NULL,
    review uuid NOT NULL,
    stars integer NOT NULL,
    length integer NOT NULL,
    helpful_count integer NOT NULL,
    photo_count integer NOT NULL,
    transaction bigint NOT NULL,
    at timestamp with time zone NOT NULL
);
ALTER TABLE public.catalogue_reviewchange ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.catalogue_reviewchange_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.catalogue_searchrow (
    restaurant_id uuid NOT NULL,
    market character varying(40) NOT NULL,
    "position" point,
    latitude double precision,
    longitude double precision,
    timezone character varying(64) NOT NULL,
    is_shut boolean NOT NULL,
    cuisines character varying(60)[] NOT NULL,
    price_level integer,
    rating numeric(2,1),
    review_count integer NOT NULL,
    rank_stars integer NOT NULL,
    rank_reviews integer NOT NULL,
    former_stars integer NOT NULL,
    former_reviews integer NOT NULL,
    ranked_at timestamp with time zone NOT NULL,
    tags character varying(40)[] NOT NULL,
    neighborhood character varying(120),
    name character varying(200) NOT NULL,
    line1 character varying(200),
    document tsvector NOT NULL,
    sources character varying(40)[] NOT NULL,
    card text NOT NULL,
    open_intervals tstzmultirange,
    intervals_until timestamp with time zone,
    intervals_missing boolean GENERATED ALWAYS AS ((intervals_until IS NULL)) STORED
);
CREATE TABLE public.catalogue_source (
    key character varying(40) NOT NULL,
    name character varying(120) NOT NULL,
    license character varying(60) NOT NULL,
    attribution character varying(200) NOT NULL,
    updated_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    rank smallint DEFAULT 100 NOT NULL,
    CONSTRAINT catalogue_source_rank_check CHECK ((rank >= 0))
);
CREATE TABLE public.catalogue_sourcerecord (
    id bigint NOT NULL,
    restaurant_id uuid NOT NULL,
    source_id character varying(40) NOT NULL,
    record character varying(120) NOT NULL,
    digest character varying(64) NOT NULL,
    fields character varying(40)[] NOT NULL,
    updated_at timestamp with time zone NOT NULL
);
ALTER TABLE public.catalogue_sourcerecord ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.catalogue_sourcerecord_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.catalogue_version (
    id bigint NOT NULL,
    restaurant_id uuid NOT NULL,
    version integer NOT NULL,
    at timestamp with time zone NOT NULL,
    actor character varying(80) NOT NULL,
    kind character varying(10) NOT NULL,
    patch jsonb NOT NULL,
    seq bigint,
    updated_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    CONSTRAINT catalogue_version_version_check CHECK ((version >= 0))
);
CREATE SEQUENCE public.catalogue_version_feed
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER TABLE public.catalogue_version ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.catalogue_version_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.django_admin_log (
    id integer NOT NULL,
    action_time timestamp with time zone NOT NULL,
    object_id text,
    object_repr character varying(200) NOT NULL,
    action_flag smallint NOT NULL,
    change_message text NOT NULL,
    content_type_id integer,
    user_id bigint NOT NULL,
    CONSTRAINT django_admin_log_action_flag_check CHECK ((action_flag >= 0))
);
ALTER TABLE public.django_admin_log ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.django_admin_log_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.django_content_type (
    id integer NOT NULL,
    app_label character varying(100) NOT NULL,
    model character varying(100) NOT NULL
);
ALTER TABLE public.django_content_type ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.django_content_type_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.django_migrations (
    id bigint NOT NULL,
    app character varying(255) NOT NULL,
    name character varying(255) NOT NULL,
    applied timestamp with time zone NOT NULL
);
ALTER TABLE public.django_migrations ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.django_migrations_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.django_session (
    session_key character varying(40) NOT NULL,
    session_data text NOT NULL,
    expire_date timestamp with time zone NOT NULL
);
CREATE TABLE public.mfa_authenticator (
    id bigint NOT NULL,
    type character varying(20) NOT NULL,
    data jsonb NOT NULL,
    user_id bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone
);
ALTER TABLE public.mfa_authenticator ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.mfa_authenticator_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.orders_chargerule (
    id uuid NOT NULL,
    type character varying(14) NOT NULL,
    name character varying(100) NOT NULL,
    percent numeric(6,3),
    amount numeric(10,3),
    tax_percent numeric(6,3) NOT NULL,
    fulfilments character varying(8)[] NOT NULL,
    free_from numeric(10,3),
    "position" smallint NOT NULL,
    venue_id uuid NOT NULL,
    translations jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT charge_rule_fulfilments_known CHECK ((fulfilments <@ ARRAY['pickup'::character varying(8), 'delivery'::character varying(8), 'dine_in'::character varying(8)])),
    CONSTRAINT charge_rule_percent_or_amount CHECK ((((amount IS NULL) AND (percent > (0)::numeric) AND (percent IS NOT NULL) AND (percent <= (100)::numeric)) OR ((amount > (0)::numeric) AND (amount IS NOT NULL) AND (percent IS NULL)))),
    CONSTRAINT charge_rule_tax_from_0_to_100_percent CHECK ((tax_percent BETWEEN (0)::numeric AND (100)::numeric)),
    CONSTRAINT orders_chargerule_position_check CHECK (("position" >= 0))
);
CREATE TABLE public.orders_chargerulechange (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    pgh_context jsonb,
    id uuid NOT NULL,
    type character varying(14) NOT NULL,
    name character varying(100) NOT NULL,
    percent numeric(6,3),
    amount numeric(10,3),
    tax_percent numeric(6,3) NOT NULL,
    fulfilments character varying(8)[] NOT NULL,
    free_from numeric(10,3),
    "position" smallint NOT NULL,
    pgh_obj_id uuid NOT NULL,
    venue_id uuid NOT NULL,
    translations jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT orders_chargerulechange_position_check CHECK (("position" >= 0))
);
ALTER TABLE public.orders_chargerulechange ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.orders_chargerulechange_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.orders_checkoutsession (
    id uuid NOT NULL,
    agent character varying(500) NOT NULL,
    state character varying(9) NOT NULL,
    content jsonb NOT NULL,
    shown_total numeric(18,3),
    shown_usdc numeric(18,6),
    completion_digest character varying(64) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    completed_at timestamp with time zone,
    canceled_at timestamp with time zone,
    order_id uuid,
    venue_id uuid NOT NULL,
    CONSTRAINT checkout_session_has_an_order_once_placed CHECK ((((order_id IS NULL) AND (state = ANY (ARRAY['open'::character varying, 'canceled'::character varying]))) OR ((order_id IS NOT NULL) AND (state = ANY (ARRAY['placed'::character varying, 'completed'::character varying]))))),
    CONSTRAINT checkout_session_times_match_state CHECK ((((canceled_at IS NULL) AND (completed_at IS NULL) AND (state = ANY (ARRAY['open'::character varying, 'placed'::character varying]))) OR ((canceled_at IS NULL) AND (completed_at IS NOT NULL) AND ((state)::text = 'completed'::text)) OR ((canceled_at IS NOT NULL) AND (completed_at IS NULL) AND ((state)::text = 'canceled'::text))))
);
CREATE TABLE public.orders_dishphoto (
    id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE public.orders_itemmodifiergroup (
    id uuid NOT NULL,
    "position" smallint NOT NULL,
    item_id uuid NOT NULL,
    menu_id uuid NOT NULL,
    group_id uuid NOT NULL,
    CONSTRAINT orders_itemmodifiergroup_position_check CHECK (("position" >= 0))
);
CREATE TABLE public.orders_itemmodifiergroupchange (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    pgh_context jsonb,
    id uuid NOT NULL,
    "position" smallint NOT NULL,
    item_id uuid NOT NULL,
    menu_id uuid NOT NULL,
    pgh_obj_id uuid NOT NULL,
    group_id uuid NOT NULL,
    CONSTRAINT orders_itemmodifiergroupchange_position_check CHECK (("position" >= 0))
);
ALTER TABLE public.orders_itemmodifiergroupchange ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.orders_itemmodifiergroupchange_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.orders_menu (
    id uuid NOT NULL,
    venue_id uuid NOT NULL,
    is_published boolean NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE public.orders_menucategory (
    id uuid NOT NULL,
    menu_id uuid NOT NULL,
    name character varying(100) NOT NULL,
    "position" smallint NOT NULL,
    served_from time without time zone,
    served_until time without time zone,
    translations jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT menu_category_has_both_serving_times_or_none CHECK ((((served_from IS NULL) AND (served_until IS NULL)) OR ((served_from IS NOT NULL) AND (served_until IS NOT NULL) AND (NOT ((served_from = served_until) AND (served_from IS NOT NULL) AND (served_until IS NOT NULL)))))),
    CONSTRAINT orders_menucategory_position_check CHECK (("position" >= 0))
);
CREATE TABLE public.orders_menucategorychange (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    pgh_obj_id uuid NOT NULL,
    pgh_context jsonb,
    id uuid NOT NULL,
    menu_id uuid NOT NULL,
    name character varying(100) NOT NULL,
    "position" smallint NOT NULL,
    served_from time without time zone,
    served_until time without time zone,
    translations jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT orders_menucategorychange_position_check CHECK (("position" >= 0))
);
ALTER TABLE public.orders_menucategorychange ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.orders_menucategorychange_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.orders_menuchange (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    pgh_obj_id uuid NOT NULL,
    pgh_context jsonb,
    id uuid NOT NULL,
    venue_id uuid NOT NULL,
    is_published boolean NOT NULL,
    created_at timestamp with time zone NOT NULL
);
ALTER TABLE public.orders_menuchange ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.orders_menuchange_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.orders_menuitem (
    id uuid NOT NULL,
    menu_id uuid NOT NULL,
    category_id uuid NOT NULL,
    ref character varying(64) NOT NULL,
    name character varying(200) NOT NULL,
    description character varying(500) NOT NULL,
    price numeric(10,3) NOT NULL,
    tax_percent numeric(6,3) NOT NULL,
    is_available boolean NOT NULL,
    sold_out_on date,
    "position" smallint NOT NULL,
    allergens character varying(11)[] DEFAULT '{}'::character varying(11)[] NOT NULL,
    photo_id uuid,
    diets character varying(12)[] DEFAULT '{}'::character varying(12)[] NOT NULL,
    prep_minutes smallint,
    station character varying(40) DEFAULT ''::character varying NOT NULL,
    stock integer,
    takeaway_tax_percent numeric(6,3),
    translations jsonb DEFAULT '{}'::jsonb NOT NULL,
    sold_out_until timestamp with time zone,
    CONSTRAINT menu_item_allergens_known CHECK ((allergens <@ ARRAY['gluten'::character varying(11), 'crustaceans'::character varying(11), 'eggs'::character varying(11), 'fish'::character varying(11), 'peanuts'::character varying(11), 'soybeans'::character varying(11), 'milk'::character varying(11), 'nuts'::character varying(11), 'celery'::character varying(11), 'mustard'::character varying(11), 'sesame'::character varying(11), 'sulphites'::character varying(11), 'lupin'::character varying(11), 'molluscs'::character varying(11)])),
    CONSTRAINT menu_item_allergens_listed_once CHECK (public.has_no_duplicates((allergens)::text[])),
    CONSTRAINT menu_item_diets_known CHECK ((diets <@ ARRAY['vegetarian'::character varying(12), 'vegan'::character varying(12), 'gluten_free'::character varying(12), 'lactose_free'::character varying(12), 'halal'::character varying(12), 'kosher'::character varying(12)])),
    CONSTRAINT menu_item_id_not_empty CHECK ((NOT ((ref)::text = ''::text))),
    CONSTRAINT menu_item_price_not_negative CHECK ((price >= (0)::numeric)),
    CONSTRAINT menu_item_takeaway_tax_from_0_to_100_percent CHECK ((takeaway_tax_percent BETWEEN (0)::numeric AND (100)::numeric)),
    CONSTRAINT menu_item_tax_from_0_to_100_percent CHECK ((tax_percent BETWEEN (0)::numeric AND (100)::numeric)),
    CONSTRAINT orders_menuitem_position_check CHECK (("position" >= 0)),
    CONSTRAINT orders_menuitem_prep_minutes_check CHECK ((prep_minutes >= 0)),
    CONSTRAINT orders_menuitem_stock_check CHECK ((stock >= 0))
);
CREATE TABLE public.orders_menuitemchange (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    pgh_obj_id uuid NOT NULL,
    pgh_context jsonb,
    id uuid NOT NULL,
    menu_id uuid NOT NULL,
    category_id uuid NOT NULL,
    ref character varying(64) NOT NULL,
    name character varying(200) NOT NULL,
    description character varying(500) NOT NULL,
    price numeric(10,3) NOT NULL,
    tax_percent numeric(6,3) NOT NULL,
    is_available boolean NOT NULL,
    sold_out_on date,
    "position" smallint NOT NULL,
    allergens character varying(11)[] DEFAULT '{}'::character varying(11)[] NOT NULL,
    photo_id uuid,
    diets character varying(12)[] DEFAULT '{}'::character varying(12)[] NOT NULL,
    prep_minutes smallint,
    station character varying(40) DEFAULT ''::character varying NOT NULL,
    takeaway_tax_percent numeric(6,3),
    translations jsonb DEFAULT '{}'::jsonb NOT NULL,
    sold_out_until timestamp with time zone,
    CONSTRAINT orders_menuitemchange_position_check CHECK (("position" >= 0)),
    CONSTRAINT orders_menuitemchange_prep_minutes_check CHECK ((prep_minutes >= 0))
);
ALTER TABLE public.orders_menuitemchange ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.orders_menuitemchange_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.orders_menuupload (
    id uuid NOT NULL,
    venue_id uuid NOT NULL,
    file_name character varying(200) NOT NULL,
    content jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    applied_at timestamp with time zone
);
CREATE TABLE public.orders_modifier (
    id uuid NOT NULL,
    ref character varying(64) NOT NULL,
    name character varying(100) NOT NULL,
    price_delta numeric(10,3) NOT NULL,
    is_default boolean NOT NULL,
    is_available boolean NOT NULL,
    allergens character varying(11)[] DEFAULT '{}'::character varying(11)[] NOT NULL,
    translations jsonb NOT NULL,
    "position" smallint NOT NULL,
    item_id uuid,
    menu_id uuid NOT NULL,
    group_id uuid NOT NULL,
    nested_group_id uuid,
    CONSTRAINT modifier_allergens_known CHECK ((allergens <@ ARRAY['gluten'::character varying(11), 'crustaceans'::character varying(11), 'eggs'::character varying(11), 'fish'::character varying(11), 'peanuts'::character varying(11), 'soybeans'::character varying(11), 'milk'::character varying(11), 'nuts'::character varying(11), 'celery'::character varying(11), 'mustard'::character varying(11), 'sesame'::character varying(11), 'sulphites'::character varying(11), 'lupin'::character varying(11), 'molluscs'::character varying(11)])),
    CONSTRAINT modifier_group_not_nested_in_itself CHECK ((NOT ((nested_group_id = group_id) AND (nested_group_id IS NOT NULL)))),
    CONSTRAINT modifier_id_not_empty CHECK ((NOT ((ref)::text = ''::text))),
    CONSTRAINT orders_modifier_position_check CHECK (("position" >= 0))
);
CREATE TABLE public.orders_modifierchange (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    pgh_context jsonb,
    id uuid NOT NULL,
    ref character varying(64) NOT NULL,
    name character varying(100) NOT NULL,
    price_delta numeric(10,3) NOT NULL,
    is_default boolean NOT NULL,
    is_available boolean NOT NULL,
    allergens character varying(11)[] DEFAULT '{}'::character varying(11)[] NOT NULL,
    translations jsonb NOT NULL,
    "position" smallint NOT NULL,
    item_id uuid,
    menu_id uuid NOT NULL,
    pgh_obj_id uuid NOT NULL,
    group_id uuid NOT NULL,
    nested_group_id uuid,
    CONSTRAINT orders_modifierchange_position_check CHECK (("position" >= 0))
);
ALTER TABLE public.orders_modifierchange ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.orders_modifierchange_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.orders_modifiergroup (
    id uuid NOT NULL,
    ref character varying(64) NOT NULL,
    name character varying(100) NOT NULL,
    min_choices smallint NOT NULL,
    max_choices smallint NOT NULL,
    translations jsonb NOT NULL,
    menu_id uuid NOT NULL,
    CONSTRAINT modifier_group_choices_from_min_to_max CHECK (((max_choices >= 1) AND (max_choices <= 20) AND (min_choices <= max_choices))),
    CONSTRAINT modifier_group_id_not_empty CHECK ((NOT ((ref)::text = ''::text))),
    CONSTRAINT orders_modifiergroup_max_choices_check CHECK ((max_choices >= 0)),
    CONSTRAINT orders_modifiergroup_min_choices_check CHECK ((min_choices >= 0))
);
CREATE TABLE public.orders_modifiergroupchange (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    pgh_context jsonb,
    id uuid NOT NULL,
    ref character varying(64) NOT NULL,
    name character varying(100) NOT NULL,
    min_choices smallint NOT NULL,
    max_choices smallint NOT NULL,
    translations jsonb NOT NULL,
    menu_id uuid NOT NULL,
    pgh_obj_id uuid NOT NULL,
    CONSTRAINT orders_modifiergroupchange_max_choices_check CHECK ((max_choices >= 0)),
    CONSTRAINT orders_modifiergroupchange_min_choices_check CHECK ((min_choices >= 0))
);
ALTER TABLE public.orders_modifiergroupchange ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.orders_modifiergroupchange_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.orders_order (
    id uuid NOT NULL,
    venue_id uuid NOT NULL,
    number integer NOT NULL,
    business_date date NOT NULL,
    status character varying(10) NOT NULL,
    customer_id character varying(64) NOT NULL,
    delivery_address character varying(500),
    payment_method character varying(40) NOT NULL,
    currency character varying(3) NOT NULL,
    subtotal numeric(18,3),
    tax numeric(18,3),
    total numeric(18,3),
    metadata jsonb NOT NULL,
    version integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    completed_at timestamp with time zone,
    cancelled_at timestamp with time zone,
    cancelled_because character varying(300) DEFAULT ''::character varying NOT NULL,
    accepted_at timestamp with time zone,
    kitchen_stage character varying(9) DEFAULT 'received'::character varying NOT NULL,
    preparing_at timestamp with time zone,
    ready_at timestamp with time zone,
    channel character varying(40),
    charges jsonb DEFAULT '[]'::jsonb NOT NULL,
    contact_email character varying(254) DEFAULT ''::character varying NOT NULL,
    contact_name character varying(200) DEFAULT ''::character varying NOT NULL,
    contact_phone character varying(16) DEFAULT ''::character varying NOT NULL,
    is_dine_in boolean DEFAULT false NOT NULL,
    promised_at timestamp with time zone,
    requested_at timestamp with time zone,
    portions jsonb DEFAULT '{}'::jsonb NOT NULL,
    slot timestamp with time zone,
    "table" character varying(40) DEFAULT ''::character varying NOT NULL,
    tip numeric(18,3),
    ticket_printed_at timestamp with time zone,
    payment_state character varying(10) DEFAULT ''::character varying NOT NULL,
    usdc_amount numeric(18,6),
    usdc_payment uuid,
    ticket_claims character varying(40)[] DEFAULT '{}'::character varying(40)[] NOT NULL,
    CONSTRAINT order_cancellation_reason_only_if_cancelled CHECK ((((status)::text = 'cancelled'::text) OR ((cancelled_because)::text = ''::text))),
    CONSTRAINT order_is_served_at_the_venue_or_delivered CHECK ((((NOT is_dine_in) AND (("table")::text = ''::text)) OR ((delivery_address IS NULL) AND is_dine_in))),
    CONSTRAINT order_payment_state_matches_payment CHECK (((((payment_state)::text = ''::text) AND (usdc_payment IS NULL)) OR (((payment_state)::text = 'due'::text) AND (usdc_amount IS NOT NULL) AND (usdc_payment IS NULL)) OR ((payment_state = ANY (ARRAY['paid'::character varying, 'refund_due'::character varying, 'refunded'::character varying])) AND (usdc_amount IS NOT NULL) AND (usdc_payment IS NOT NULL)))),
    CONSTRAINT order_times_match_status CHECK ((((cancelled_at IS NULL) AND (completed_at IS NULL) AND ((status)::text = 'pending'::text)) OR ((cancelled_at IS NULL) AND (completed_at IS NOT NULL) AND ((status)::text = 'completed'::text)) OR ((cancelled_at IS NOT NULL) AND (completed_at IS NULL) AND ((status)::text = 'cancelled'::text)))),
    CONSTRAINT order_tip_not_negative CHECK (((tip IS NULL) OR (tip >= (0)::numeric))),
    CONSTRAINT orders_order_number_check CHECK ((number >= 0)),
    CONSTRAINT orders_order_version_check CHECK ((version >= 0))
);
CREATE TABLE public.orders_orderingsettings (
    venue_id uuid NOT NULL,
    prep_minutes smallint NOT NULL,
    slot_minutes smallint NOT NULL,
    orders_per_slot smallint,
    warn_minutes smallint NOT NULL,
    late_minutes smallint NOT NULL,
    is_page_open boolean NOT NULL,
    page_fulfilments character varying(8)[] NOT NULL,
    takes_usdc boolean NOT NULL,
    printer_address inet,
    printer_port integer DEFAULT 9100 NOT NULL,
    max_waiting_orders smallint DEFAULT 20 NOT NULL,
    paused_at timestamp with time zone,
    paused_until timestamp with time zone,
    usdc_price numeric(14,6),
    CONSTRAINT ordering_settings_capacity_positive CHECK (((orders_per_slot IS NULL) OR (orders_per_slot >= 1))),
    CONSTRAINT ordering_settings_port_of_a_printer CHECK ((printer_port BETWEEN 9100 AND 9109)),
    CONSTRAINT ordering_settings_prep_time_within_a_day CHECK ((prep_minutes <= 1440)),
    CONSTRAINT ordering_settings_slot_divides_an_hour CHECK ((slot_minutes = ANY (ARRAY[5, 10, 15, 20, 30, 60]))),
    CONSTRAINT ordering_settings_usdc_has_a_price CHECK (((NOT takes_usdc) OR ((usdc_price > (0)::numeric) AND (usdc_price IS NOT NULL)))),
    CONSTRAINT ordering_settings_warns_before_late CHECK (((warn_minutes >= 1) AND (warn_minutes < late_minutes))),
    CONSTRAINT orders_orderingsettings_late_minutes_check CHECK ((late_minutes >= 0)),
    CONSTRAINT orders_orderingsettings_max_waiting_orders_check CHECK ((max_waiting_orders >= 0)),
    CONSTRAINT orders_orderingsettings_orders_per_slot_check CHECK ((orders_per_slot >= 0)),
    CONSTRAINT orders_orderingsettings_prep_minutes_check CHECK ((prep_minutes >= 0)),
    CONSTRAINT orders_orderingsettings_printer_port_check CHECK ((printer_port >= 0)),
    CONSTRAINT orders_orderingsettings_slot_minutes_check CHECK ((slot_minutes >= 0)),
    CONSTRAINT orders_orderingsettings_warn_minutes_check CHECK ((warn_minutes >= 0))
);
CREATE TABLE public.orders_orderingsettingschange (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    pgh_context jsonb,
    prep_minutes smallint NOT NULL,
    slot_minutes smallint NOT NULL,
    orders_per_slot smallint,
    warn_minutes smallint NOT NULL,
    late_minutes smallint NOT NULL,
    is_page_open boolean NOT NULL,
    page_fulfilments character varying(8)[] NOT NULL,
    takes_usdc boolean NOT NULL,
    pgh_obj_id uuid NOT NULL,
    venue_id uuid NOT NULL,
    printer_address inet,
    printer_port integer DEFAULT 9100 NOT NULL,
    max_waiting_orders smallint DEFAULT 20 NOT NULL,
    paused_at timestamp with time zone,
    paused_until timestamp with time zone,
    usdc_price numeric(14,6),
    CONSTRAINT orders_orderingsettingschange_late_minutes_check CHECK ((late_minutes >= 0)),
    CONSTRAINT orders_orderingsettingschange_max_waiting_orders_check CHECK ((max_waiting_orders >= 0)),
    CONSTRAINT orders_orderingsettingschange_orders_per_slot_check CHECK ((orders_per_slot >= 0)),
    CONSTRAINT orders_orderingsettingschange_prep_minutes_check CHECK ((prep_minutes >= 0)),
    CONSTRAINT orders_orderingsettingschange_printer_port_check CHECK ((printer_port >= 0)),
    CONSTRAINT orders_orderingsettingschange_slot_minutes_check CHECK ((slot_minutes >= 0)),
    CONSTRAINT orders_orderingsettingschange_warn_minutes_check CHECK ((warn_minutes >= 0))
);
ALTER TABLE public.orders_orderingsettingschange ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.orders_orderingsettingschange_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.orders_orderitem (
    id bigint NOT NULL,
    order_id uuid NOT NULL,
    "position" smallint NOT NULL,
    menu_item_id character varying(64) NOT NULL,
    name character varying(200),
    quantity integer NOT NULL,
    notes character varying(500) NOT NULL,
    unit_price numeric(18,3),
    tax_percent numeric(6,3),
    line_total numeric(18,3),
    modifiers jsonb DEFAULT '[]'::jsonb NOT NULL,
    station character varying(40) DEFAULT ''::character varying NOT NULL,
    CONSTRAINT order_item_quantity_in_1_to_999 CHECK ((quantity BETWEEN 1 AND 999)),
    CONSTRAINT orders_orderitem_position_check CHECK (("position" >= 0)),
    CONSTRAINT orders_orderitem_quantity_check CHECK ((quantity >= 0))
);
ALTER TABLE public.orders_orderitem ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.orders_orderitem_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.orders_ordernumber (
    id bigint NOT NULL,
    venue_id uuid NOT NULL,
    business_date date NOT NULL,
    last integer NOT NULL,
    CONSTRAINT orders_ordernumber_last_check CHECK ((last >= 0))
);
ALTER TABLE public.orders_ordernumber ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.orders_ordernumber_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.orders_orderslot (
    id bigint NOT NULL,
    starts_at timestamp with time zone NOT NULL,
    orders integer NOT NULL,
    venue_id uuid NOT NULL,
    CONSTRAINT orders_orderslot_orders_check CHECK ((orders >= 0))
);
ALTER TABLE public.orders_orderslot ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.orders_orderslot_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.payments_audit (
    id uuid NOT NULL,
    network character varying(40) NOT NULL,
    pay_to character varying(42) NOT NULL,
    first_block bigint NOT NULL,
    last_block bigint NOT NULL,
    started_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    transfers integer NOT NULL,
    arrived_usdc numeric(78,6) NOT NULL,
    ledger_usdc numeric(78,6) NOT NULL,
    orphans integer NOT NULL,
    differences character varying(300)[] NOT NULL,
    CONSTRAINT audit_spans_blocks CHECK ((last_block >= first_block)),
    CONSTRAINT payments_audit_orphans_check CHECK ((orphans >= 0)),
    CONSTRAINT payments_audit_transfers_check CHECK ((transfers >= 0))
);
CREATE TABLE public.payments_billing (
    account_id uuid NOT NULL,
    address text DEFAULT ''::text NOT NULL,
    monthly_limit_usdc numeric(14,6),
    alert_percents smallint[] DEFAULT '{50,80,100}'::smallint[] NOT NULL,
    alerted_month date,
    alerted_percent smallint DEFAULT 0 NOT NULL,
    refusal_alerted_month date,
    CONSTRAINT payments_billing_alerted_percent_check CHECK ((alerted_percent >= 0)),
    CONSTRAINT spending_limit_is_positive CHECK (((monthly_limit_usdc IS NULL) OR (monthly_limit_usdc > (0)::numeric)))
);
CREATE TABLE public.payments_holdingsnapshot (
    id bigint NOT NULL,
    wallet_id character varying(42) NOT NULL,
    read_at timestamp with time zone NOT NULL,
    tier character varying(20) NOT NULL,
    holdings_usd numeric(30,6) NOT NULL,
    staked numeric(60,18) NOT NULL,
    lowest_tier character varying(20) DEFAULT ''::character varying NOT NULL,
    CONSTRAINT snapshot_of_a_known_tier CHECK ((tier = ANY (ARRAY['free'::character varying, 'pro'::character varying, 'premium'::character varying, 'enterprise'::character varying])))
);
ALTER TABLE public.payments_holdingsnapshot ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.payments_holdingsnapshot_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.payments_invoice (
    id bigint NOT NULL,
    month date NOT NULL,
    name character varying(200) NOT NULL,
    address text NOT NULL,
    wallets character varying(42)[] NOT NULL,
    created_at timestamp with time zone NOT NULL,
    account_id uuid NOT NULL
);
ALTER TABLE public.payments_invoice ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.payments_invoice_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.payments_payment (
    id uuid NOT NULL,
    form character varying(2) NOT NULL,
    state character varying(20) NOT NULL,
    network character varying(40) NOT NULL,
    asset character varying(42) NOT NULL,
    payer character varying(42) NOT NULL,
    pay_to character varying(42) NOT NULL,
    amount_usdc numeric(78,6) NOT NULL,
    proof_key character varying(200) NOT NULL,
    signature_digest character varying(64) NOT NULL,
    payment_identifier character varying(128) NOT NULL,
    purchase character varying(64) NOT NULL,
    method character varying(10) DEFAULT 'GET'::character varying NOT NULL,
    channel character varying(4) DEFAULT 'rest'::character varying NOT NULL,
    resource text NOT NULL,
    products character varying(40)[] NOT NULL,
    tier character varying(20) NOT NULL,
    valid_before timestamp with time zone,
    tx_hash character varying(66),
    log_index integer,
    block bigint,
    facilitator character varying(200) NOT NULL,
    error character varying(500) NOT NULL,
    rechecked_at timestamp with time zone,
    attempts integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    claimed_at timestamp with time zone NOT NULL,
    settled_at timestamp with time zone,
    delivered_at timestamp with time zone,
    refunded_at timestamp with time zone,
    late_repeats smallint DEFAULT 0 NOT NULL,
    origin character varying(32) DEFAULT ''::character varying NOT NULL,
    quote_digest character varying(64) DEFAULT ''::character varying NOT NULL,
    account_id uuid,
    refund_requested_at timestamp with time zone,
    refund_request character varying(500) DEFAULT ''::character varying NOT NULL,
    refund_declined_at timestamp with time zone,
    CONSTRAINT a_refund_names_its_moment CHECK (((NOT ((state)::text = 'refunded'::text)) OR (refunded_at IS NOT NULL))),
    CONSTRAINT a_refund_request_has_a_moment_and_a_reason CHECK (((((refund_request)::text = ''::text) AND (refund_requested_at IS NULL)) OR ((refund_requested_at IS NOT NULL) AND (NOT ((refund_request)::text = ''::text))))),
    CONSTRAINT money_that_arrived_has_its_transaction CHECK (((NOT (state = ANY (ARRAY['settled'::character varying, 'delivered'::character varying, 'refund_due'::character varying, 'refunded'::character varying]))) OR ((settled_at IS NOT NULL) AND (tx_hash IS NOT NULL)))),
    CONSTRAINT only_a_refund_request_is_declined CHECK (((refund_declined_at IS NULL) OR (refund_requested_at IS NOT NULL))),
    CONSTRAINT payment_is_positive CHECK ((amount_usdc > (0)::numeric)),
    CONSTRAINT payment_state_is_known CHECK ((state = ANY (ARRAY['claimed'::character varying, 'unknown'::character varying, 'settled'::character varying, 'delivered'::character varying, 'expired'::character varying, 'refund_due'::character varying, 'refunded'::character varying]))),
    CONSTRAINT payments_payment_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT payments_payment_late_repeats_check CHECK ((late_repeats >= 0)),
    CONSTRAINT payments_payment_log_index_check CHECK ((log_index >= 0))
);
CREATE TABLE public.payments_paymentevent (
    id bigint NOT NULL,
    payment_id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    before character varying(20) NOT NULL,
    after character varying(20) NOT NULL,
    attempt integer NOT NULL,
    payer character varying(42) NOT NULL,
    amount_usdc numeric(78,6) NOT NULL,
    tx_hash character varying(66) NOT NULL,
    error character varying(500) NOT NULL,
    actor character varying(80) NOT NULL,
    CONSTRAINT payments_paymentevent_attempt_check CHECK ((attempt >= 0))
);
ALTER TABLE public.payments_paymentevent ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.payments_paymentevent_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.payments_plan (
    id uuid NOT NULL,
    name character varying(120) NOT NULL,
    wallet_id character varying(42),
    account_id uuid,
    tier character varying(20) NOT NULL,
    per_minute integer,
    price_factor numeric(5,4) NOT NULL,
    sla text NOT NULL,
    valid_from timestamp with time zone NOT NULL,
    valid_until timestamp with time zone,
    note text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT payments_plan_per_minute_check CHECK ((per_minute >= 0)),
    CONSTRAINT plan_ends_after_it_begins CHECK (((valid_until IS NULL) OR (valid_until > valid_from))),
    CONSTRAINT plan_is_of_a_wallet_or_an_account CHECK ((((account_id IS NULL) AND (wallet_id IS NOT NULL)) OR ((account_id IS NOT NULL) AND (wallet_id IS NULL)))),
    CONSTRAINT plan_of_a_known_tier CHECK ((tier = ANY (ARRAY['free'::character varying, 'pro'::character varying, 'premium'::character varying, 'enterprise'::character varying]))),
    CONSTRAINT plan_price_factor_is_not_below_zero CHECK ((price_factor >= (0)::numeric)),
    CONSTRAINT plan_rate_is_positive CHECK (((per_minute IS NULL) OR (per_minute > 0)))
);
CREATE TABLE public.payments_price (
    id bigint NOT NULL,
    product_id character varying(40) NOT NULL,
    rate character varying(20) NOT NULL,
    amount_usdc numeric(20,6),
    valid_from timestamp with time zone NOT NULL,
    by character varying(80) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT price_is_positive CHECK ((amount_usdc > (0)::numeric)),
    CONSTRAINT price_rate_is_known CHECK ((rate = ANY (ARRAY['standard'::character varying, 'discounted'::character varying, 'best'::character varying, 'committed'::character varying])))
);
ALTER TABLE public.payments_price ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.payments_price_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.payments_product (
    slug character varying(40) NOT NULL,
    name character varying(80) NOT NULL,
    description character varying(200) NOT NULL,
    from_tier character varying(20) NOT NULL,
    CONSTRAINT product_from_a_known_tier CHECK ((from_tier = ANY (ARRAY['free'::character varying, 'pro'::character varying, 'premium'::character varying, 'enterprise'::character varying])))
);
CREATE TABLE public.payments_receiver (
    id bigint NOT NULL,
    network character varying(40) NOT NULL,
    address character varying(42) NOT NULL,
    created_at timestamp with time zone NOT NULL
);
ALTER TABLE public.payments_receiver ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.payments_receiver_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.payments_refund (
    id uuid NOT NULL,
    payment_id uuid NOT NULL,
    amount_usdc numeric(78,6) NOT NULL,
    "to" character varying(42) NOT NULL,
    tx_hash character varying(66) NOT NULL,
    offset_usdc numeric(78,6) NOT NULL,
    moved_usdc numeric(78,6),
    senders character varying(42)[] NOT NULL,
    by character varying(80) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    confirmed_at timestamp with time zone,
    error character varying(500) NOT NULL,
    CONSTRAINT a_confirmed_refund_was_moved CHECK (((confirmed_at IS NULL) OR (moved_usdc IS NOT NULL))),
    CONSTRAINT refund_is_positive CHECK ((amount_usdc > (0)::numeric)),
    CONSTRAINT refund_names_a_transaction CHECK (((tx_hash)::text ~ '^0x[0-9a-f]{64}$'::text)),
    CONSTRAINT refunds_claim_no_more_than_was_moved CHECK (((offset_usdc >= (0)::numeric) AND ((moved_usdc IS NULL) OR (moved_usdc >= (offset_usdc + amount_usdc)))))
);
CREATE TABLE public.payments_spentchallenge (
    nonce character varying(64) NOT NULL,
    expires_at timestamp with time zone NOT NULL
);
CREATE TABLE public.payments_tierterms (
    tier character varying(20) NOT NULL,
    support character varying(200) NOT NULL,
    priority character varying(20) NOT NULL,
    sla text NOT NULL,
    CONSTRAINT terms_of_a_known_priority CHECK ((priority = ANY (ARRAY['standard'::character varying, 'elevated'::character varying, 'priority'::character varying, 'dedicated'::character varying]))),
    CONSTRAINT terms_of_a_known_tier CHECK ((tier = ANY (ARRAY['free'::character varying, 'pro'::character varying, 'premium'::character varying, 'enterprise'::character varying])))
);
CREATE TABLE public.payments_wallet (
    address character varying(42) NOT NULL,
    account_id uuid,
    tier character varying(20) NOT NULL,
    holdings_usd numeric(30,6) NOT NULL,
    staked numeric(60,18) NOT NULL,
    read_at timestamp with time zone,
    pending_tier character varying(20) NOT NULL,
    pending_tier_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    read_block bigint,
    CONSTRAINT wallet_address_is_valid CHECK (((address)::text ~ '^0x[0-9a-f]{40}$'::text)),
    CONSTRAINT wallet_of_a_known_tier CHECK ((tier = ANY (ARRAY['free'::character varying, 'pro'::character varying, 'premium'::character varying, 'enterprise'::character varying])))
);
CREATE TABLE public.payments_walletsession (
    id uuid NOT NULL,
    wallet_id character varying(42) NOT NULL,
    nonce character varying(64) NOT NULL,
    digest character varying(64) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone
);
CREATE TABLE public.pghistory_context (
    id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    metadata jsonb NOT NULL
);
CREATE TABLE public.reservations_agreedterms (
    reservation_id uuid NOT NULL,
    free_hours smallint,
    free_until timestamp with time zone NOT NULL,
    deposit_usdc numeric(78,6),
    deposit_state character varying(10) NOT NULL,
    decided_at timestamp with time zone,
    CONSTRAINT agreed_decided_at_if_decided CHECK ((((decided_at IS NOT NULL) AND (deposit_state = ANY (ARRAY['kept'::character varying, 'returned'::character varying]))) OR ((decided_at IS NULL) AND (deposit_state = ANY (ARRAY[''::character varying, 'held'::character varying]))))),
    CONSTRAINT agreed_deposit_state_if_paid CHECK ((((deposit_state)::text = ''::text) OR (deposit_usdc IS NOT NULL))),
    CONSTRAINT reservations_agreedterms_free_hours_check CHECK ((free_hours >= 0))
);
CREATE TABLE public.reservations_area (
    id uuid NOT NULL,
    venue_id uuid NOT NULL,
    name character varying(100) NOT NULL,
    "position" smallint NOT NULL,
    CONSTRAINT reservations_area_position_check CHECK (("position" >= 0))
);
CREATE TABLE public.reservations_branding (
    venue_id uuid NOT NULL,
    color character varying(7) DEFAULT ''::character varying NOT NULL,
    logo_id uuid,
    photo_id uuid,
    CONSTRAINT branding_color_is_hexadecimal CHECK ((((color)::text = ''::text) OR ((color)::text ~ '^#[0-9a-f]{6}$'::text))),
    CONSTRAINT branding_logo_is_not_the_photo CHECK ((NOT ((logo_id = photo_id) AND (logo_id IS NOT NULL) AND (photo_id IS NOT NULL))))
);
CREATE TABLE public.reservations_brandingimage (
    id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE public.reservations_cancellationterms (
    id uuid NOT NULL,
    party_from smallint NOT NULL,
    weekdays smallint[] NOT NULL,
    first_date date,
    last_date date,
    free_hours smallint,
    deposit_usdc numeric(6,2),
    venue_id uuid NOT NULL,
    CONSTRAINT reservations_cancellationterms_free_hours_check CHECK ((free_hours >= 0)),
    CONSTRAINT reservations_cancellationterms_party_from_check CHECK ((party_from >= 0)),
    CONSTRAINT terms_ask_something CHECK (((free_hours IS NOT NULL) OR (deposit_usdc IS NOT NULL))),
    CONSTRAINT terms_deposit_up_to_1000 CHECK (((deposit_usdc IS NULL) OR ((deposit_usdc > (0)::numeric) AND (deposit_usdc <= (1000)::numeric)))),
    CONSTRAINT terms_free_hours_up_to_168 CHECK (((free_hours IS NULL) OR (free_hours <= 168))),
    CONSTRAINT terms_have_weekdays CHECK (((weekdays <@ ARRAY[(0)::smallint, (1)::smallint, (2)::smallint, (3)::smallint, (4)::smallint, (5)::smallint, (6)::smallint]) AND (
CASE
    WHEN (weekdays IS NULL) THEN NULL::integer
    ELSE COALESCE(array_length(weekdays, 1), 0)
END >= 1))),
    CONSTRAINT terms_last_date_not_before_first CHECK (((first_date IS NULL) OR (last_date IS NULL) OR (last_date >= first_date))),
    CONSTRAINT terms_party_from_1_to_500 CHECK ((party_from BETWEEN 1 AND 500))
);
CREATE TABLE public.reservations_cancellationtermschange (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    pgh_context jsonb,
    id uuid NOT NULL,
    party_from smallint NOT NULL,
    weekdays smallint[] NOT NULL,
    first_date date,
    last_date date,
    free_hours smallint,
    deposit_usdc numeric(6,2),
    pgh_obj_id uuid NOT NULL,
    venue_id uuid NOT NULL,
    CONSTRAINT reservations_cancellationtermschange_free_hours_check CHECK ((free_hours >= 0)),
    CONSTRAINT reservations_cancellationtermschange_party_from_check CHECK ((party_from >= 0))
);
ALTER TABLE public.reservations_cancellationtermschange ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.reservations_cancellationtermschange_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.reservations_closure (
    id uuid NOT NULL,
    venue_id uuid NOT NULL,
    first_date date NOT NULL,
    last_date date NOT NULL,
    reason character varying(200) NOT NULL,
    CONSTRAINT closure_last_date_not_before_first CHECK ((last_date >= first_date))
);
CREATE TABLE public.reservations_closurechange (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    pgh_obj_id uuid NOT NULL,
    pgh_context jsonb,
    id uuid NOT NULL,
    venue_id uuid NOT NULL,
    first_date date NOT NULL,
    last_date date NOT NULL,
    reason character varying(200) NOT NULL
);
ALTER TABLE public.reservations_closurechange ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.reservations_closurechange_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.reservations_combination (
    id uuid NOT NULL,
    venue_id uuid NOT NULL,
    name character varying(100) NOT NULL,
    seats_min smallint NOT NULL,
    seats_max smallint NOT NULL,
    priority smallint NOT NULL,
    is_active boolean NOT NULL,
    CONSTRAINT combination_seats_valid CHECK (((seats_max >= seats_min) AND (seats_max <= 500) AND (seats_min >= 1))),
    CONSTRAINT reservations_combination_priority_check CHECK ((priority >= 0)),
    CONSTRAINT reservations_combination_seats_max_check CHECK ((seats_max >= 0)),
    CONSTRAINT reservations_combination_seats_min_check CHECK ((seats_min >= 0))
);
CREATE TABLE public.reservations_combination_tables (
    id bigint NOT NULL,
    combination_id uuid NOT NULL,
    table_id uuid NOT NULL
);
ALTER TABLE public.reservations_combination_tables ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.reservations_combination_tables_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.reservations_guestcontact (
    id bigint NOT NULL,
    venue_id uuid NOT NULL,
    profile_id uuid NOT NULL,
    address character varying(254) NOT NULL
);
ALTER TABLE public.reservations_guestcontact ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.reservations_guestcontact_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.reservations_guestmail (
    id uuid NOT NULL,
    reservation_id uuid NOT NULL,
    kind character varying(20) NOT NULL,
    state character varying(10) NOT NULL,
    attempts smallint NOT NULL,
    next_attempt_at timestamp with time zone NOT NULL,
    leased_until timestamp with time zone,
    last_error character varying(300) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    sent_at timestamp with time zone,
    former jsonb,
    CONSTRAINT guest_mail_sent_at_if_sent CHECK ((((sent_at IS NOT NULL) AND ((state)::text = 'sent'::text)) OR ((NOT ((state)::text = 'sent'::text)) AND (sent_at IS NULL)))),
    CONSTRAINT reservations_guestmail_attempts_check CHECK ((attempts >= 0))
);
CREATE TABLE public.reservations_guestprofile (
    id uuid NOT NULL,
    venue_id uuid NOT NULL,
    note text NOT NULL,
    tags character varying(30)[] NOT NULL,
    merged_into_id uuid,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT guest_profile_not_merged_into_itself CHECK (((merged_into_id IS NULL) OR (NOT ((merged_into_id = id) AND (merged_into_id IS NOT NULL)))))
);
CREATE TABLE public.reservations_hold (
    id uuid NOT NULL,
    owner character varying(64) NOT NULL,
    date date NOT NULL,
    "time" time without time zone NOT NULL,
    starts_at timestamp with time zone NOT NULL,
    ends_at timestamp with time zone NOT NULL,
    party_size smallint NOT NULL,
    tables character varying(20)[] NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    area_id uuid,
    venue_id uuid NOT NULL,
    CONSTRAINT hold_ends_after_it_starts CHECK ((ends_at > starts_at)),
    CONSTRAINT hold_expires_after_creation CHECK ((expires_at > created_at)),
    CONSTRAINT hold_party_size_in_1_to_500 CHECK ((party_size BETWEEN 1 AND 500)),
    CONSTRAINT reservations_hold_party_size_check CHECK ((party_size >= 0))
);
CREATE TABLE public.reservations_onlinebooking (
    form_key uuid NOT NULL,
    reservation_id uuid NOT NULL,
    content_hash character varying(64) NOT NULL,
    contact_hash character varying(64) NOT NULL,
    ip_hash character varying(64) NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE public.reservations_reservation (
    id uuid NOT NULL,
    venue_id uuid NOT NULL,
    code character varying(6) NOT NULL,
    status character varying(10) NOT NULL,
    pending_reason character varying(20),
    customer_name character varying(200) NOT NULL,
    customer_email character varying(254),
    customer_phone character varying(16),
    date date NOT NULL,
    "time" time without time zone NOT NULL,
    starts_at timestamp with time zone NOT NULL,
    ends_at timestamp with time zone NOT NULL,
    party_size smallint NOT NULL,
    tables character varying(20)[] NOT NULL,
    special_requests text NOT NULL,
    metadata jsonb NOT NULL,
    version integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    cancelled_at timestamp with time zone,
    arrival character varying(10),
    offered_until timestamp with time zone,
    confirm_by timestamp with time zone,
    offer_count smallint NOT NULL,
    is_walk_in boolean DEFAULT false NOT NULL,
    erased_at timestamp with time zone,
    area_id uuid,
    quoted_minutes smallint,
    language character varying(10) DEFAULT ''::character varying NOT NULL,
    CONSTRAINT reservation_arrival_only_if_confirmed CHECK (((arrival IS NULL) OR ((status)::text = 'confirmed'::text))),
    CONSTRAINT reservation_cancelled_at_if_cancelled CHECK ((((cancelled_at IS NOT NULL) AND ((status)::text = 'cancelled'::text)) OR ((NOT ((status)::text = 'cancelled'::text)) AND (cancelled_at IS NULL)))),
    CONSTRAINT reservation_confirm_by_if_email_confirmation CHECK ((((confirm_by IS NOT NULL) AND ((pending_reason)::text = 'email_confirmation'::text)) OR ((confirm_by IS NULL) AND ((pending_reason IS NULL) OR (NOT (((pending_reason)::text = 'email_confirmation'::text) AND (pending_reason IS NOT NULL))))))),
    CONSTRAINT reservation_ends_after_it_starts CHECK ((ends_at > starts_at)),
    CONSTRAINT reservation_has_contact CHECK (((customer_email IS NOT NULL) OR (customer_phone IS NOT NULL) OR is_walk_in OR (erased_at IS NOT NULL))),
    CONSTRAINT reservation_offer_only_if_waitlisted CHECK (((offered_until IS NULL) OR (((pending_reason)::text = 'waitlist'::text) AND ((status)::text = 'pending'::text)))),
    CONSTRAINT reservation_party_size_in_1_to_500 CHECK ((party_size BETWEEN 1 AND 500)),
    CONSTRAINT reservation_pending_reason_if_pending CHECK ((((pending_reason IS NOT NULL) AND ((status)::text = 'pending'::text)) OR ((NOT ((status)::text = 'pending'::text)) AND (pending_reason IS NULL)))),
    CONSTRAINT reservations_reservation_offer_count_check CHECK ((offer_count >= 0)),
    CONSTRAINT reservations_reservation_party_size_check CHECK ((party_size >= 0)),
    CONSTRAINT reservations_reservation_version_check CHECK ((version >= 0))
);
CREATE TABLE public.reservations_seating (
    id bigint NOT NULL,
    reservation_id uuid,
    table_id uuid NOT NULL,
    during tstzrange NOT NULL,
    hold_id uuid,
    CONSTRAINT seating_not_empty CHECK ((NOT isempty(during))),
    CONSTRAINT seating_of_reservation_or_hold CHECK ((((hold_id IS NULL) AND (reservation_id IS NOT NULL)) OR ((hold_id IS NOT NULL) AND (reservation_id IS NULL))))
);
ALTER TABLE public.reservations_seating ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.reservations_seating_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.reservations_serviceperiod (
    id uuid NOT NULL,
    venue_id uuid NOT NULL,
    name character varying(100) NOT NULL,
    weekdays smallint[] NOT NULL,
    first_seating time without time zone NOT NULL,
    last_seating time without time zone NOT NULL,
    slot_min smallint NOT NULL,
    pacing_covers smallint,
    turn_2_min smallint NOT NULL,
    turn_4_min smallint NOT NULL,
    turn_6_min smallint NOT NULL,
    turn_more_min smallint NOT NULL,
    CONSTRAINT reservations_serviceperiod_pacing_covers_check CHECK ((pacing_covers >= 0)),
    CONSTRAINT reservations_serviceperiod_slot_min_check CHECK ((slot_min >= 0)),
    CONSTRAINT reservations_serviceperiod_turn_2_min_check CHECK ((turn_2_min >= 0)),
    CONSTRAINT reservations_serviceperiod_turn_4_min_check CHECK ((turn_4_min >= 0)),
    CONSTRAINT reservations_serviceperiod_turn_6_min_check CHECK ((turn_6_min >= 0)),
    CONSTRAINT reservations_serviceperiod_turn_more_min_check CHECK ((turn_more_min >= 0)),
    CONSTRAINT service_period_has_weekdays CHECK (((weekdays <@ ARRAY[(0)::smallint, (1)::smallint, (2)::smallint, (3)::smallint, (4)::smallint, (5)::smallint, (6)::smallint]) AND (
CASE
    WHEN (weekdays IS NULL) THEN NULL::integer
    ELSE COALESCE(array_length(weekdays, 1), 0)
END >= 1))),
    CONSTRAINT service_period_pacing_positive CHECK (((pacing_covers IS NULL) OR (pacing_covers >= 1))),
    CONSTRAINT service_period_slots_of_5_to_240_minutes CHECK ((slot_min BETWEEN 5 AND 240)),
    CONSTRAINT service_period_turns_of_15_to_720_minutes CHECK (((turn_2_min BETWEEN 15 AND 720) AND (turn_4_min BETWEEN 15 AND 720) AND (turn_6_min BETWEEN 15 AND 720) AND (turn_more_min BETWEEN 15 AND 720)))
);
CREATE TABLE public.reservations_serviceperiodchange (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    pgh_obj_id uuid NOT NULL,
    pgh_context jsonb,
    id uuid NOT NULL,
    venue_id uuid NOT NULL,
    name character varying(100) NOT NULL,
    weekdays smallint[] NOT NULL,
    first_seating time without time zone NOT NULL,
    last_seating time without time zone NOT NULL,
    slot_min smallint NOT NULL,
    pacing_covers smallint,
    turn_2_min smallint NOT NULL,
    turn_4_min smallint NOT NULL,
    turn_6_min smallint NOT NULL,
    turn_more_min smallint NOT NULL,
    CONSTRAINT reservations_serviceperiodchange_pacing_covers_check CHECK ((pacing_covers >= 0)),
    CONSTRAINT reservations_serviceperiodchange_slot_min_check CHECK ((slot_min >= 0)),
    CONSTRAINT reservations_serviceperiodchange_turn_2_min_check CHECK ((turn_2_min >= 0)),
    CONSTRAINT reservations_serviceperiodchange_turn_4_min_check CHECK ((turn_4_min >= 0)),
    CONSTRAINT reservations_serviceperiodchange_turn_6_min_check CHECK ((turn_6_min >= 0)),
    CONSTRAINT reservations_serviceperiodchange_turn_more_min_check CHECK ((turn_more_min >= 0))
);
ALTER TABLE public.reservations_serviceperiodchange ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.reservations_serviceperiodchange_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.reservations_table (
    id uuid NOT NULL,
    venue_id uuid NOT NULL,
    area_id uuid,
    name character varying(20) NOT NULL,
    seats_min smallint NOT NULL,
    seats_max smallint NOT NULL,
    priority smallint NOT NULL,
    is_active boolean NOT NULL,
    CONSTRAINT reservations_table_priority_check CHECK ((priority >= 0)),
    CONSTRAINT reservations_table_seats_max_check CHECK ((seats_max >= 0)),
    CONSTRAINT reservations_table_seats_min_check CHECK ((seats_min >= 0)),
    CONSTRAINT table_seats_valid CHECK (((seats_max >= seats_min) AND (seats_max <= 500) AND (seats_min >= 1)))
);
CREATE TABLE public.reservations_tablechange (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    pgh_obj_id uuid NOT NULL,
    pgh_context jsonb,
    id uuid NOT NULL,
    venue_id uuid NOT NULL,
    area_id uuid,
    name character varying(20) NOT NULL,
    seats_min smallint NOT NULL,
    seats_max smallint NOT NULL,
    priority smallint NOT NULL,
    is_active boolean NOT NULL,
    CONSTRAINT reservations_tablechange_priority_check CHECK ((priority >= 0)),
    CONSTRAINT reservations_tablechange_seats_max_check CHECK ((seats_max >= 0)),
    CONSTRAINT reservations_tablechange_seats_min_check CHECK ((seats_min >= 0))
);
ALTER TABLE public.reservations_tablechange ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.reservations_tablechange_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.usersessions_usersession (
    id bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    ip inet NOT NULL,
    last_seen_at timestamp with time zone NOT NULL,
    session_key character varying(40) NOT NULL,
    user_agent character varying(200) NOT NULL,
    data jsonb NOT NULL,
    user_id bigint NOT NULL
);
ALTER TABLE public.usersessions_usersession ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.usersessions_usersession_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);









INSERT INTO public.accounts_apikeychangecounter VALUES
	(1, 1);



























INSERT INTO public.auth_group VALUES
	(1, 'Data editor'),
	(2, 'Finance'),
	(3, 'Support');

INSERT INTO public.auth_permission VALUES
	(1, 'Can add log entry', 1, 'add_logentry'),
	(2, 'Can change log entry', 1, 'change_logentry'),
	(3, 'Can delete log entry', 1, 'delete_logentry'),
	(4, 'Can view log entry', 1, 'view_logentry'),
	(5, 'Can add permission', 2, 'add_permission'),
	(6, 'Can change permission', 2, 'change_permission'),
	(7, 'Can delete permission', 2, 'delete_permission'),
	(8, 'Can view permission', 2, 'view_permission'),
	(9, 'Can add group', 3, 'add_group'),
	(10, 'Can change group', 3, 'change_group'),
	(11, 'Can delete group', 3, 'delete_group'),
	(12, 'Can view group', 3, 'view_group'),
	(13, 'Can add content type', 4, 'add_contenttype'),
	(14, 'Can change content type', 4, 'change_contenttype'),
	(15, 'Can delete content type', 4, 'delete_contenttype'),
	(16, 'Can view content type', 4, 'view_contenttype'),
	(17, 'Can add session', 5, 'add_session'),
	(18, 'Can change session', 5, 'change_session'),
	(19, 'Can delete session', 5, 'delete_session'),
	(20, 'Can view session', 5, 'view_session'),
	(21, 'Can add email address', 6, 'add_emailaddress'),
	(22, 'Can change email address', 6, 'change_emailaddress'),
	(23, 'Can delete email address', 6, 'delete_emailaddress'),
	(24, 'Can view email address', 6, 'view_emailaddress'),
	(25, 'Can add email confirmation', 7, 'add_emailconfirmation'),
	(26, 'Can change email confirmation', 7, 'change_emailconfirmation'),
	(27, 'Can delete email confirmation', 7, 'delete_emailconfirmation'),
	(28, 'Can view email confirmation', 7, 'view_emailconfirmation'),
	(29, 'Can add authenticator', 8, 'add_authenticator'),
	(30, 'Can change authenticator', 8, 'change_authenticator'),
	(31, 'Can delete authenticator', 8, 'delete_authenticator'),
	(32, 'Can view authenticator', 8, 'view_authenticator'),
	(33, 'Can add user session', 9, 'add_usersession'),
	(34, 'Can change user session', 9, 'change_usersession'),
	(35, 'Can delete user session', 9, 'delete_usersession'),
	(36, 'Can view user session', 9, 'view_usersession'),
	(37, 'Can add context', 10, 'add_context'),
	(38, 'Can change context', 10, 'change_context'),
	(39, 'Can delete context', 10, 'delete_context'),
	(40, 'Can view context', 10, 'view_context'),
	(41, 'Can add events', 11, 'add_events'),
	(42, 'Can change events', 11, 'change_events'),
	(43, 'Can delete events', 11, 'delete_events'),
	(44, 'Can view events', 11, 'view_events'),
	(45, 'Can add middleware events', 12, 'add_middlewareevents'),
	(46, 'Can change middleware events', 12, 'change_middlewareevents'),
	(47, 'Can delete middleware events', 12, 'delete_middlewareevents'),
	(48, 'Can view middleware events', 12, 'view_middlewareevents'),
	(49, 'Can add user', 13, 'add_user'),
	(50, 'Can change user', 13, 'change_user'),
	(51, 'Can delete user', 13, 'delete_user'),
	(52, 'Can view user', 13, 'view_user'),
	(53, 'Can add account', 14, 'add_account'),
	(54, 'Can change account', 14, 'change_account'),
	(55, 'Can delete account', 14, 'delete_account'),
	(56, 'Can view account', 14, 'view_account'),
	(57, 'Can add membership', 15, 'add_membership'),
	(58, 'Can change membership', 15, 'change_membership'),
	(59, 'Can delete membership', 15, 'delete_membership'),
	(60, 'Can view membership', 15, 'view_membership'),
	(61, 'Can add membership change', 16, 'add_membershipchange'),
	(62, 'Can change membership change', 16, 'change_membershipchange'),
	(63, 'Can delete membership change', 16, 'delete_membershipchange'),
	(64, 'Can view membership change', 16, 'view_membershipchange'),
	(65, 'Can add invitation', 17, 'add_invitation'),
	(66, 'Can change invitation', 17, 'change_invitation'),
	(67, 'Can delete invitation', 17, 'delete_invitation'),
	(68, 'Can view invitation', 17, 'view_invitation'),
	(69, 'Can add venue', 18, 'add_venue'),
	(70, 'Can change venue', 18, 'change_venue'),
	(71, 'Can delete venue', 18, 'delete_venue'),
	(72, 'Can view venue', 18, 'view_venue'),
	(73, 'Can add venue change', 19, 'add_venuechange'),
	(74, 'Can change venue change', 19, 'change_venuechange'),
	(75, 'Can delete venue change', 19, 'delete_venuechange'),
	(76, 'Can view venue change', 19, 'view_venuechange'),
	(77, 'Can add API key', 20, 'add_apikey'),
	(78, 'Can change API key', 20, 'change_apikey'),
	(79, 'Can delete API key', 20, 'delete_apikey'),
	(80, 'Can view API key', 20, 'view_apikey'),
	(81, 'Can add api key change', 21, 'add_apikeychange'),
	(82, 'Can change api key change', 21, 'change_apikeychange'),
	(83, 'Can delete api key change', 21, 'delete_apikeychange'),
	(84, 'Can view api key change', 21, 'view_apikeychange'),
	(85, 'Can add api key change counter', 22, 'add_apikeychangecounter'),
	(86, 'Can change api key change counter', 22, 'change_apikeychangecounter'),
	(87, 'Can delete api key change counter', 22, 'delete_apikeychangecounter'),
	(88, 'Can view api key change counter', 22, 'view_apikeychangecounter'),
	(89, 'Can add record count', 23, 'add_recordcount'),
	(90, 'Can change record count', 23, 'change_recordcount'),
	(91, 'Can delete record count', 23, 'delete_recordcount'),
	(92, 'Can view record count', 23, 'view_recordcount'),
	(93, 'Can add idempotent call', 24, 'add_idempotentcall'),
	(94, 'Can change idempotent call', 24, 'change_idempotentcall'),
	(95, 'Can delete idempotent call', 24, 'delete_idempotentcall'),
	(96, 'Can view idempotent call', 24, 'view_idempotentcall'),
	(97, 'Can add outgoing mail', 25, 'add_outgoingmail'),
	(98, 'Can change outgoing mail', 25, 'change_outgoingmail'),
	(99, 'Can delete outgoing mail', 25, 'delete_outgoingmail'),
	(100, 'Can view outgoing mail', 25, 'view_outgoingmail'),
	(101, 'Can add API call', 26, 'add_apicall'),
	(102, 'Can change API call', 26, 'change_apicall'),
	(103, 'Can delete API call', 26, 'delete_apicall'),
	(104, 'Can view API call', 26, 'view_apicall'),
	(105, 'Can add API call count', 27, 'add_apicallcount'),
	(106, 'Can change API call count', 27, 'change_apicallcount'),
	(107, 'Can delete API call count', 27, 'delete_apicallcount'),
	(108, 'Can view API call count', 27, 'view_apicallcount'),
	(109, 'Can add event', 28, 'add_event'),
	(110, 'Can change event', 28, 'change_event'),
	(111, 'Can delete event', 28, 'delete_event'),
	(112, 'Can view event', 28, 'view_event'),
	(113, 'Can add webhook endpoint', 29, 'add_webhookendpoint'),
	(114, 'Can change webhook endpoint', 29, 'change_webhookendpoint'),
	(115, 'Can delete webhook endpoint', 29, 'delete_webhookendpoint'),
	(116, 'Can view webhook endpoint', 29, 'view_webhookendpoint'),
	(117, 'Can add webhook endpoint change', 30, 'add_webhookendpointchange'),
	(118, 'Can change webhook endpoint change', 30, 'change_webhookendpointchange'),
	(119, 'Can delete webhook endpoint change', 30, 'delete_webhookendpointchange'),
	(120, 'Can view webhook endpoint change', 30, 'view_webhookendpointchange'),
	(121, 'Can add webhook delivery', 31, 'add_webhookdelivery'),
	(122, 'Can change webhook delivery', 31, 'change_webhookdelivery'),
	(123, 'Can delete webhook delivery', 31, 'delete_webhookdelivery'),
	(124, 'Can view webhook delivery', 31, 'view_webhookdelivery'),
	(125, 'Can add demo data', 32, 'add_demodata'),
	(126, 'Can change demo data', 32, 'change_demodata'),
	(127, 'Can delete demo data', 32, 'delete_demodata'),
	(128, 'Can view demo data', 32, 'view_demodata'),
	(129, 'Can add staff access', 33, 'add_staffaccess'),
	(130, 'Can change staff access', 33, 'change_staffaccess'),
	(131, 'Can delete staff access', 33, 'delete_staffaccess'),
	(132, 'Can view staff access', 33, 'view_staffaccess'),
	(133, 'Can add alert subscription', 34, 'add_alertsubscription'),
	(134, 'Can change alert subscription', 34, 'change_alertsubscription'),
	(135, 'Can delete alert subscription', 34, 'delete_alertsubscription'),
	(136, 'Can view alert subscription', 34, 'view_alertsubscription'),
	(137, 'Can add alert', 35, 'add_alert'),
	(138, 'Can change alert', 35, 'change_alert'),
	(139, 'Can delete alert', 35, 'delete_alert'),
	(140, 'Can view alert', 35, 'view_alert'),
	(141, 'Can add push device', 36, 'add_pushdevice'),
	(142, 'Can change push device', 36, 'change_pushdevice'),
	(143, 'Can delete push device', 36, 'delete_pushdevice'),
	(144, 'Can view push device', 36, 'view_pushdevice'),
	(145, 'Can add assignment', 37, 'add_assignment'),
	(146, 'Can change assignment', 37, 'change_assignment'),
	(147, 'Can delete assignment', 37, 'delete_assignment'),
	(148, 'Can view assignment', 37, 'view_assignment'),
	(149, 'Can add saved filter', 38, 'add_savedfilter'),
	(150, 'Can change saved filter', 38, 'change_savedfilter'),
	(151, 'Can delete saved filter', 38, 'delete_savedfilter'),
	(152, 'Can view saved filter', 38, 'view_savedfilter'),
	(153, 'Can add app', 39, 'add_oauthapp'),
	(154, 'Can change app', 39, 'change_oauthapp'),
	(155, 'Can delete app', 39, 'delete_oauthapp'),
	(156, 'Can view app', 39, 'view_oauthapp'),
	(157, 'Can add authorization code', 40, 'add_oauthcode'),
	(158, 'Can change authorization code', 40, 'change_oauthcode'),
	(159, 'Can delete authorization code', 40, 'delete_oauthcode'),
	(160, 'Can view authorization code', 40, 'view_oauthcode'),
	(161, 'Can add grant', 41, 'add_oauthgrant'),
	(162, 'Can change grant', 41, 'change_oauthgrant'),
	(163, 'Can delete grant', 41, 'delete_oauthgrant'),
	(164, 'Can view grant', 41, 'view_oauthgrant'),
	(165, 'Can add token', 42, 'add_oauthtoken'),
	(166, 'Can change token', 42, 'change_oauthtoken'),
	(167, 'Can delete token', 42, 'delete_oauthtoken'),
	(168, 'Can view token', 42, 'view_oauthtoken'),
	(169, 'Can add sandbox clock', 43, 'add_sandboxclock'),
	(170, 'Can change sandbox clock', 43, 'change_sandboxclock'),
	(171, 'Can delete sandbox clock', 43, 'delete_sandboxclock'),
	(172, 'Can view sandbox clock', 43, 'view_sandboxclock'),
	(173, 'Can add menu upload', 44, 'add_menuupload'),
	(174, 'Can change menu upload', 44, 'change_menuupload'),
	(175, 'Can delete menu upload', 44, 'delete_menuupload'),
	(176, 'Can view menu upload', 44, 'view_menuupload'),
	(177, 'Can add menu', 45, 'add_menu'),
	(178, 'Can change menu', 45, 'change_menu'),
	(179, 'Can delete menu', 45, 'delete_menu'),
	(180, 'Can view menu', 45, 'view_menu'),
	(181, 'Can add menu change', 46, 'add_menuchange'),
	(182, 'Can change menu change', 46, 'change_menuchange'),
	(183, 'Can delete menu change', 46, 'delete_menuchange'),
	(184, 'Can view menu change', 46, 'view_menuchange'),
	(185, 'Can add menu category', 47, 'add_menucategory'),
	(186, 'Can change menu category', 47, 'change_menucategory'),
	(187, 'Can delete menu category', 47, 'delete_menucategory'),
	(188, 'Can view menu category', 47, 'view_menucategory'),
	(189, 'Can add menu category change', 48, 'add_menucategorychange'),
	(190, 'Can change menu category change', 48, 'change_menucategorychange'),
	(191, 'Can delete menu category change', 48, 'delete_menucategorychange'),
	(192, 'Can view menu category change', 48, 'view_menucategorychange'),
	(193, 'Can add menu item', 49, 'add_menuitem'),
	(194, 'Can change menu item', 49, 'change_menuitem'),
	(195, 'Can delete menu item', 49, 'delete_menuitem'),
	(196, 'Can view menu item', 49, 'view_menuitem'),
	(197, 'Can add menu item change', 50, 'add_menuitemchange'),
	(198, 'Can change menu item change', 50, 'change_menuitemchange'),
	(199, 'Can delete menu item change', 50, 'delete_menuitemchange'),
	(200, 'Can view menu item change', 50, 'view_menuitemchange'),
	(201, 'Can add order', 51, 'add_order'),
	(202, 'Can change order', 51, 'change_order'),
	(203, 'Can delete order', 51, 'delete_order'),
	(204, 'Can view order', 51, 'view_order'),
	(205, 'Can add order item', 52, 'add_orderitem'),
	(206, 'Can change order item', 52, 'change_orderitem'),
	(207, 'Can delete order item', 52, 'delete_orderitem'),
	(208, 'Can view order item', 52, 'view_orderitem'),
	(209, 'Can add order number', 53, 'add_ordernumber'),
	(210, 'Can change order number', 53, 'change_ordernumber'),
	(211, 'Can delete order number', 53, 'delete_ordernumber'),
	(212, 'Can view order number', 53, 'view_ordernumber'),
	(213, 'Can add dish photo', 54, 'add_dishphoto'),
	(214, 'Can change dish photo', 54, 'change_dishphoto'),
	(215, 'Can delete dish photo', 54, 'delete_dishphoto'),
	(216, 'Can view dish photo', 54, 'view_dishphoto'),
	(217, 'Can add charge rule', 55, 'add_chargerule'),
	(218, 'Can change charge rule', 55, 'change_chargerule'),
	(219, 'Can delete charge rule', 55, 'delete_chargerule'),
	(220, 'Can view charge rule', 55, 'view_chargerule'),
	(221, 'Can add charge rule change', 56, 'add_chargerulechange'),
	(222, 'Can change charge rule change', 56, 'change_chargerulechange'),
	(223, 'Can delete charge rule change', 56, 'delete_chargerulechange'),
	(224, 'Can view charge rule change', 56, 'view_chargerulechange'),
	(225, 'Can add item modifier group', 57, 'add_itemmodifiergroup'),
	(226, 'Can change item modifier group', 57, 'change_itemmodifiergroup'),
	(227, 'Can delete item modifier group', 57, 'delete_itemmodifiergroup'),
	(228, 'Can view item modifier group', 57, 'view_itemmodifiergroup'),
	(229, 'Can add item modifier group change', 58, 'add_itemmodifiergroupchange'),
	(230, 'Can change item modifier group change', 58, 'change_itemmodifiergroupchange'),
	(231, 'Can delete item modifier group change', 58, 'delete_itemmodifiergroupchange'),
	(232, 'Can view item modifier group change', 58, 'view_itemmodifiergroupchange'),
	(233, 'Can add modifier', 59, 'add_modifier'),
	(234, 'Can change modifier', 59, 'change_modifier'),
	(235, 'Can delete modifier', 59, 'delete_modifier'),
	(236, 'Can view modifier', 59, 'view_modifier'),
	(237, 'Can add modifier change', 60, 'add_modifierchange'),
	(238, 'Can change modifier change', 60, 'change_modifierchange'),
	(239, 'Can delete modifier change', 60, 'delete_modifierchange'),
	(240, 'Can view modifier change', 60, 'view_modifierchange'),
	(241, 'Can add modifier group', 61, 'add_modifiergroup'),
	(242, 'Can change modifier group', 61, 'change_modifiergroup'),
	(243, 'Can delete modifier group', 61, 'delete_modifiergroup'),
	(244, 'Can view modifier group', 61, 'view_modifiergroup'),
	(245, 'Can add modifier group change', 62, 'add_modifiergroupchange'),
	(246, 'Can change modifier group change', 62, 'change_modifiergroupchange'),
	(247, 'Can delete modifier group change', 62, 'delete_modifiergroupchange'),
	(248, 'Can view modifier group change', 62, 'view_modifiergroupchange'),
	(249, 'Can add ordering settings', 63, 'add_orderingsettings'),
	(250, 'Can change ordering settings', 63, 'change_orderingsettings'),
	(251, 'Can delete ordering settings', 63, 'delete_orderingsettings'),
	(252, 'Can view ordering settings', 63, 'view_orderingsettings'),
	(253, 'Can add ordering settings change', 64, 'add_orderingsettingschange'),
	(254, 'Can change ordering settings change', 64, 'change_orderingsettingschange'),
	(255, 'Can delete ordering settings change', 64, 'delete_orderingsettingschange'),
	(256, 'Can view ordering settings change', 64, 'view_orderingsettingschange'),
	(257, 'Can add order slot', 65, 'add_orderslot'),
	(258, 'Can change order slot', 65, 'change_orderslot'),
	(259, 'Can delete order slot', 65, 'delete_orderslot'),
	(260, 'Can view order slot', 65, 'view_orderslot'),
	(261, 'Can add checkout session', 66, 'add_checkoutsession'),
	(262, 'Can change checkout session', 66, 'change_checkoutsession'),
	(263, 'Can delete checkout session', 66, 'delete_checkoutsession'),
	(264, 'Can view checkout session', 66, 'view_checkoutsession'),
	(265, 'Can add reservation', 67, 'add_reservation'),
	(266, 'Can change reservation', 67, 'change_reservation'),
	(267, 'Can delete reservation', 67, 'delete_reservation'),
	(268, 'Can view reservation', 67, 'view_reservation'),
	(269, 'Can add guest mail', 68, 'add_guestmail'),
	(270, 'Can change guest mail', 68, 'change_guestmail'),
	(271, 'Can delete guest mail', 68, 'delete_guestmail'),
	(272, 'Can view guest mail', 68, 'view_guestmail'),
	(273, 'Can add guest profile', 69, 'add_guestprofile'),
	(274, 'Can change guest profile', 69, 'change_guestprofile'),
	(275, 'Can delete guest profile', 69, 'delete_guestprofile'),
	(276, 'Can view guest profile', 69, 'view_guestprofile'),
	(277, 'Can add guest contact', 70, 'add_guestcontact'),
	(278, 'Can change guest contact', 70, 'change_guestcontact'),
	(279, 'Can delete guest contact', 70, 'delete_guestcontact'),
	(280, 'Can view guest contact', 70, 'view_guestcontact'),
	(281, 'Can add online booking', 71, 'add_onlinebooking'),
	(282, 'Can change online booking', 71, 'change_onlinebooking'),
	(283, 'Can delete online booking', 71, 'delete_onlinebooking'),
	(284, 'Can view online booking', 71, 'view_onlinebooking'),
	(285, 'Can add service period', 72, 'add_serviceperiod'),
	(286, 'Can change service period', 72, 'change_serviceperiod'),
	(287, 'Can delete service period', 72, 'delete_serviceperiod'),
	(288, 'Can view service period', 72, 'view_serviceperiod'),
	(289, 'Can add service period change', 73, 'add_serviceperiodchange'),
	(290, 'Can change service period change', 73, 'change_serviceperiodchange'),
	(291, 'Can delete service period change', 73, 'delete_serviceperiodchange'),
	(292, 'Can view service period change', 73, 'view_serviceperiodchange'),
	(293, 'Can add closure', 74, 'add_closure'),
	(501, 'Can add record', 127, 'add_record'),
	(294, 'Can change closure', 74, 'change_closure'),
	(295, 'Can delete closure', 74, 'delete_closure'),
	(296, 'Can view closure', 74, 'view_closure'),
	(297, 'Can add closure change', 75, 'add_closurechange'),
	(298, 'Can change closure change', 75, 'change_closurechange'),
	(299, 'Can delete closure change', 75, 'delete_closurechange'),
	(300, 'Can view closure change', 75, 'view_closurechange'),
	(301, 'Can add area', 76, 'add_area'),
	(302, 'Can change area', 76, 'change_area'),
	(303, 'Can delete area', 76, 'delete_area'),
	(304, 'Can view area', 76, 'view_area'),
	(305, 'Can add table', 77, 'add_table'),
	(306, 'Can change table', 77, 'change_table'),
	(307, 'Can delete table', 77, 'delete_table'),
	(308, 'Can view table', 77, 'view_table'),
	(309, 'Can add table change', 78, 'add_tablechange'),
	(310, 'Can change table change', 78, 'change_tablechange'),
	(311, 'Can delete table change', 78, 'delete_tablechange'),
	(312, 'Can view table change', 78, 'view_tablechange'),
	(313, 'Can add combination', 79, 'add_combination'),
	(314, 'Can change combination', 79, 'change_combination'),
	(315, 'Can delete combination', 79, 'delete_combination'),
	(316, 'Can view combination', 79, 'view_combination'),
	(317, 'Can add seating', 80, 'add_seating'),
	(318, 'Can change seating', 80, 'change_seating'),
	(319, 'Can delete seating', 80, 'delete_seating'),
	(320, 'Can view seating', 80, 'view_seating'),
	(321, 'Can add hold', 81, 'add_hold'),
	(322, 'Can change hold', 81, 'change_hold'),
	(323, 'Can delete hold', 81, 'delete_hold'),
	(324, 'Can view hold', 81, 'view_hold'),
	(325, 'Can add branding image', 82, 'add_brandingimage'),
	(326, 'Can change branding image', 82, 'change_brandingimage'),
	(327, 'Can delete branding image', 82, 'delete_brandingimage'),
	(328, 'Can view branding image', 82, 'view_brandingimage'),
	(329, 'Can add branding', 83, 'add_branding'),
	(330, 'Can change branding', 83, 'change_branding'),
	(331, 'Can delete branding', 83, 'delete_branding'),
	(332, 'Can view branding', 83, 'view_branding'),
	(333, 'Can add agreed terms', 84, 'add_agreedterms'),
	(334, 'Can change agreed terms', 84, 'change_agreedterms'),
	(335, 'Can delete agreed terms', 84, 'delete_agreedterms'),
	(336, 'Can view agreed terms', 84, 'view_agreedterms'),
	(337, 'Can add cancellation terms', 85, 'add_cancellationterms'),
	(338, 'Can change cancellation terms', 85, 'change_cancellationterms'),
	(339, 'Can delete cancellation terms', 85, 'delete_cancellationterms'),
	(340, 'Can view cancellation terms', 85, 'view_cancellationterms'),
	(341, 'Can add cancellation terms change', 86, 'add_cancellationtermschange'),
	(342, 'Can change cancellation terms change', 86, 'change_cancellationtermschange'),
	(343, 'Can delete cancellation terms change', 86, 'delete_cancellationtermschange'),
	(344, 'Can view cancellation terms change', 86, 'view_cancellationtermschange'),
	(345, 'Can add audit', 87, 'add_audit'),
	(346, 'Can change audit', 87, 'change_audit'),
	(347, 'Can delete audit', 87, 'delete_audit'),
	(348, 'Can view audit', 87, 'view_audit'),
	(349, 'Can add payment', 88, 'add_payment'),
	(350, 'Can change payment', 88, 'change_payment'),
	(351, 'Can delete payment', 88, 'delete_payment'),
	(352, 'Can view payment', 88, 'view_payment'),
	(353, 'Can add payment event', 89, 'add_paymentevent'),
	(354, 'Can change payment event', 89, 'change_paymentevent'),
	(355, 'Can delete payment event', 89, 'delete_paymentevent'),
	(356, 'Can view payment event', 89, 'view_paymentevent'),
	(357, 'Can add refund', 90, 'add_refund'),
	(358, 'Can change refund', 90, 'change_refund'),
	(359, 'Can delete refund', 90, 'delete_refund'),
	(360, 'Can view refund', 90, 'view_refund'),
	(361, 'Can add product', 91, 'add_product'),
	(362, 'Can change product', 91, 'change_product'),
	(363, 'Can delete product', 91, 'delete_product'),
	(364, 'Can view product', 91, 'view_product'),
	(365, 'Can add price', 92, 'add_price'),
	(366, 'Can change price', 92, 'change_price'),
	(367, 'Can delete price', 92, 'delete_price'),
	(368, 'Can view price', 92, 'view_price'),
	(369, 'Can add wallet', 94, 'add_wallet'),
	(370, 'Can change wallet', 94, 'change_wallet'),
	(371, 'Can delete wallet', 94, 'delete_wallet'),
	(372, 'Can view wallet', 94, 'view_wallet'),
	(373, 'Can add wallet session', 95, 'add_walletsession'),
	(374, 'Can change wallet session', 95, 'change_walletsession'),
	(375, 'Can delete wallet session', 95, 'delete_walletsession'),
	(376, 'Can view wallet session', 95, 'view_walletsession'),
	(377, 'Can add holding snapshot', 96, 'add_holdingsnapshot'),
	(378, 'Can change holding snapshot', 96, 'change_holdingsnapshot'),
	(379, 'Can delete holding snapshot', 96, 'delete_holdingsnapshot'),
	(380, 'Can view holding snapshot', 96, 'view_holdingsnapshot'),
	(381, 'Can add spent challenge', 97, 'add_spentchallenge'),
	(382, 'Can change spent challenge', 97, 'change_spentchallenge'),
	(383, 'Can delete spent challenge', 97, 'delete_spentchallenge'),
	(384, 'Can view spent challenge', 97, 'view_spentchallenge'),
	(385, 'Can add plan', 98, 'add_plan'),
	(386, 'Can change plan', 98, 'change_plan'),
	(387, 'Can delete plan', 98, 'delete_plan'),
	(388, 'Can view plan', 98, 'view_plan'),
	(389, 'Can add tier terms', 99, 'add_tierterms'),
	(390, 'Can change tier terms', 99, 'change_tierterms'),
	(391, 'Can delete tier terms', 99, 'delete_tierterms'),
	(392, 'Can view tier terms', 99, 'view_tierterms'),
	(393, 'Can add receiver', 100, 'add_receiver'),
	(394, 'Can change receiver', 100, 'change_receiver'),
	(395, 'Can delete receiver', 100, 'delete_receiver'),
	(396, 'Can view receiver', 100, 'view_receiver'),
	(397, 'Can add billing', 101, 'add_billing'),
	(398, 'Can change billing', 101, 'change_billing'),
	(399, 'Can delete billing', 101, 'delete_billing'),
	(400, 'Can view billing', 101, 'view_billing'),
	(401, 'Can add invoice', 102, 'add_invoice'),
	(402, 'Can change invoice', 102, 'change_invoice'),
	(403, 'Can delete invoice', 102, 'delete_invoice'),
	(404, 'Can view invoice', 102, 'view_invoice'),
	(405, 'Can add source', 103, 'add_source'),
	(406, 'Can change source', 103, 'change_source'),
	(407, 'Can delete source', 103, 'delete_source'),
	(408, 'Can view source', 103, 'view_source'),
	(409, 'Can add market', 104, 'add_market'),
	(410, 'Can change market', 104, 'change_market'),
	(411, 'Can delete market', 104, 'delete_market'),
	(412, 'Can view market', 104, 'view_market'),
	(413, 'Can add cuisine', 105, 'add_cuisine'),
	(414, 'Can change cuisine', 105, 'change_cuisine'),
	(415, 'Can delete cuisine', 105, 'delete_cuisine'),
	(416, 'Can view cuisine', 105, 'view_cuisine'),
	(417, 'Can add attribute', 106, 'add_attribute'),
	(418, 'Can change attribute', 106, 'change_attribute'),
	(419, 'Can delete attribute', 106, 'delete_attribute'),
	(420, 'Can view attribute', 106, 'view_attribute'),
	(421, 'Can add holiday', 107, 'add_holiday'),
	(422, 'Can change holiday', 107, 'change_holiday'),
	(423, 'Can delete holiday', 107, 'delete_holiday'),
	(424, 'Can view holiday', 107, 'view_holiday'),
	(425, 'Can add restaurant', 108, 'add_restaurant'),
	(426, 'Can change restaurant', 108, 'change_restaurant'),
	(427, 'Can delete restaurant', 108, 'delete_restaurant'),
	(428, 'Can view restaurant', 108, 'view_restaurant'),
	(429, 'Can add source record', 109, 'add_sourcerecord'),
	(430, 'Can change source record', 109, 'change_sourcerecord'),
	(431, 'Can delete source record', 109, 'delete_sourcerecord'),
	(432, 'Can view source record', 109, 'view_sourcerecord'),
	(433, 'Can add match candidate', 110, 'add_matchcandidate'),
	(434, 'Can change match candidate', 110, 'change_matchcandidate'),
	(435, 'Can delete match candidate', 110, 'delete_matchcandidate'),
	(436, 'Can view match candidate', 110, 'view_matchcandidate'),
	(437, 'Can add export', 111, 'add_export'),
	(438, 'Can change export', 111, 'change_export'),
	(439, 'Can delete export', 111, 'delete_export'),
	(440, 'Can view export', 111, 'view_export'),
	(441, 'Can add export part', 112, 'add_exportpart'),
	(442, 'Can change export part', 112, 'change_exportpart'),
	(443, 'Can delete export part', 112, 'delete_exportpart'),
	(444, 'Can view export part', 112, 'view_exportpart'),
	(445, 'Can add removal', 113, 'add_removal'),
	(446, 'Can change removal', 113, 'change_removal'),
	(447, 'Can delete removal', 113, 'delete_removal'),
	(448, 'Can view removal', 113, 'view_removal'),
	(449, 'Can add import run', 114, 'add_importrun'),
	(450, 'Can change import run', 114, 'change_importrun'),
	(451, 'Can delete import run', 114, 'delete_importrun'),
	(452, 'Can view import run', 114, 'view_importrun'),
	(453, 'Can add insight', 115, 'add_insight'),
	(454, 'Can change insight', 115, 'change_insight'),
	(455, 'Can delete insight', 115, 'delete_insight'),
	(456, 'Can view insight', 115, 'view_insight'),
	(457, 'Can add insight demand', 116, 'add_insightdemand'),
	(458, 'Can change insight demand', 116, 'change_insightdemand'),
	(459, 'Can delete insight demand', 116, 'delete_insightdemand'),
	(460, 'Can view insight demand', 116, 'view_insightdemand'),
	(461, 'Can add insight call', 117, 'add_insightcall'),
	(462, 'Can change insight call', 117, 'change_insightcall'),
	(463, 'Can delete insight call', 117, 'delete_insightcall'),
	(464, 'Can view insight call', 117, 'view_insightcall'),
	(465, 'Can add landmark', 118, 'add_landmark'),
	(466, 'Can change landmark', 118, 'change_landmark'),
	(467, 'Can delete landmark', 118, 'delete_landmark'),
	(468, 'Can view landmark', 118, 'view_landmark'),
	(469, 'Can add landmark name', 119, 'add_landmarkname'),
	(470, 'Can change landmark name', 119, 'change_landmarkname'),
	(471, 'Can delete landmark name', 119, 'delete_landmarkname'),
	(472, 'Can view landmark name', 119, 'view_landmarkname'),
	(473, 'Can add listing', 120, 'add_listing'),
	(474, 'Can change listing', 120, 'change_listing'),
	(475, 'Can delete listing', 120, 'delete_listing'),
	(476, 'Can view listing', 120, 'view_listing'),
	(477, 'Can add flow rule', 121, 'add_flowrule'),
	(478, 'Can change flow rule', 121, 'change_flowrule'),
	(479, 'Can delete flow rule', 121, 'delete_flowrule'),
	(480, 'Can view flow rule', 121, 'view_flowrule'),
	(481, 'Can add flow slot', 122, 'add_flowslot'),
	(482, 'Can change flow slot', 122, 'change_flowslot'),
	(483, 'Can delete flow slot', 122, 'delete_flowslot'),
	(484, 'Can view flow slot', 122, 'view_flowslot'),
	(485, 'Can add flow booking', 123, 'add_flowbooking'),
	(486, 'Can change flow booking', 123, 'change_flowbooking'),
	(487, 'Can delete flow booking', 123, 'delete_flowbooking'),
	(488, 'Can view flow booking', 123, 'view_flowbooking'),
	(489, 'Can add review', 124, 'add_review'),
	(490, 'Can change review', 124, 'change_review'),
	(491, 'Can delete review', 124, 'delete_review'),
	(492, 'Can view review', 124, 'view_review'),
	(493, 'Can add review change', 125, 'add_reviewchange'),
	(494, 'Can change review change', 125, 'change_reviewchange'),
	(495, 'Can delete review change', 125, 'delete_reviewchange'),
	(496, 'Can view review change', 125, 'view_reviewchange'),
	(497, 'Can add photo', 126, 'add_photo'),
	(498, 'Can change photo', 126, 'change_photo'),
	(499, 'Can delete photo', 126, 'delete_photo'),
	(500, 'Can view photo', 126, 'view_photo'),
	(502, 'Can change record', 127, 'change_record'),
	(503, 'Can delete record', 127, 'delete_record'),
	(504, 'Can view record', 127, 'view_record'),
	(505, 'Can add search row', 128, 'add_searchrow'),
	(506, 'Can change search row', 128, 'change_searchrow'),
	(507, 'Can delete search row', 128, 'delete_searchrow'),
	(508, 'Can view search row', 128, 'view_searchrow'),
	(509, 'Can add kitchen', 129, 'add_kitchen'),
	(510, 'Can change kitchen', 129, 'change_kitchen'),
	(511, 'Can delete kitchen', 129, 'delete_kitchen'),
	(512, 'Can view kitchen', 129, 'view_kitchen'),
	(513, 'Can add report', 130, 'add_report'),
	(514, 'Can change report', 130, 'change_report'),
	(515, 'Can delete report', 130, 'delete_report'),
	(516, 'Can view report', 130, 'view_report'),
	(517, 'Can add version', 131, 'add_version'),
	(518, 'Can change version', 131, 'change_version'),
	(519, 'Can delete version', 131, 'delete_version'),
	(520, 'Can view version', 131, 'view_version'),
	(521, 'Can add former slug', 132, 'add_formerslug'),
	(522, 'Can change former slug', 132, 'change_formerslug'),
	(523, 'Can delete former slug', 132, 'delete_formerslug'),
	(524, 'Can view former slug', 132, 'view_formerslug'),
	(525, 'Can add photo import', 133, 'add_photoimport'),
	(526, 'Can change photo import', 133, 'change_photoimport'),
	(527, 'Can delete photo import', 133, 'delete_photoimport'),
	(528, 'Can view photo import', 133, 'view_photoimport'),
	(529, 'Can add neighborhood change', 134, 'add_neighborhoodchange'),
	(530, 'Can change neighborhood change', 134, 'change_neighborhoodchange'),
	(531, 'Can delete neighborhood change', 134, 'delete_neighborhoodchange'),
	(532, 'Can view neighborhood change', 134, 'view_neighborhoodchange'),
	(533, 'Can add deposit', 135, 'add_deposit'),
	(534, 'Can change deposit', 135, 'change_deposit'),
	(535, 'Can delete deposit', 135, 'delete_deposit'),
	(536, 'Can view deposit', 135, 'view_deposit'),
	(537, 'Can add restaurant claim', 136, 'add_restaurantclaim'),
	(538, 'Can change restaurant claim', 136, 'change_restaurantclaim'),
	(539, 'Can delete restaurant claim', 136, 'delete_restaurantclaim'),
	(540, 'Can view restaurant claim', 136, 'view_restaurantclaim');



































INSERT INTO public.django_content_type VALUES
	(1, 'admin', 'logentry'),
	(2, 'auth', 'permission'),
	(3, 'auth', 'group'),
	(4, 'contenttypes', 'contenttype'),
	(5, 'sessions', 'session'),
	(6, 'account', 'emailaddress'),
	(7, 'account', 'emailconfirmation'),
	(8, 'mfa', 'authenticator'),
	(9, 'usersessions', 'usersession'),
	(10, 'pghistory', 'context'),
	(11, 'pghistory', 'events'),
	(12, 'pghistory', 'middlewareevents'),
	(13, 'accounts', 'user'),
	(14, 'accounts', 'account'),
	(15, 'accounts', 'membership'),
	(16, 'accounts', 'membershipchange'),
	(17, 'accounts', 'invitation'),
	(18, 'accounts', 'venue'),
	(19, 'accounts', 'venuechange'),
	(20, 'accounts', 'apikey'),
	(21, 'accounts', 'apikeychange'),
	(22, 'accounts', 'apikeychangecounter'),
	(23, 'accounts', 'recordcount'),
	(24, 'accounts', 'idempotentcall'),
	(25, 'accounts', 'outgoingmail'),
	(26, 'accounts', 'apicall'),
	(27, 'accounts', 'apicallcount'),
	(28, 'accounts', 'event'),
	(29, 'accounts', 'webhookendpoint'),
	(30, 'accounts', 'webhookendpointchange'),
	(31, 'accounts', 'webhookdelivery'),
	(32, 'accounts', 'demodata'),
	(33, 'accounts', 'staffaccess'),
	(34, 'accounts', 'alertsubscription'),
	(35, 'accounts', 'alert'),
	(36, 'accounts', 'pushdevice'),
	(37, 'accounts', 'assignment'),
	(38, 'accounts', 'savedfilter'),
	(39, 'accounts', 'oauthapp'),
	(40, 'accounts', 'oauthcode'),
	(41, 'accounts', 'oauthgrant'),
	(42, 'accounts', 'oauthtoken'),
	(43, 'accounts', 'sandboxclock'),
	(44, 'orders', 'menuupload'),
	(45, 'orders', 'menu'),
	(46, 'orders', 'menuchange'),
	(47, 'orders', 'menucategory'),
	(48, 'orders', 'menucategorychange'),
	(49, 'orders', 'menuitem'),
	(50, 'orders', 'menuitemchange'),
	(51, 'orders', 'order'),
	(52, 'orders', 'orderitem'),
	(53, 'orders', 'ordernumber'),
	(54, 'orders', 'dishphoto'),
	(55, 'orders', 'chargerule'),
	(56, 'orders', 'chargerulechange'),
	(57, 'orders', 'itemmodifiergroup'),
	(58, 'orders', 'itemmodifiergroupchange'),
	(59, 'orders', 'modifier'),
	(60, 'orders', 'modifierchange'),
	(61, 'orders', 'modifiergroup'),
	(62, 'orders', 'modifiergroupchange'),
	(63, 'orders', 'orderingsettings'),
	(64, 'orders', 'orderingsettingschange'),
	(65, 'orders', 'orderslot'),
	(66, 'orders', 'checkoutsession'),
	(67, 'reservations', 'reservation'),
	(68, 'reservations', 'guestmail'),
	(69, 'reservations', 'guestprofile'),
	(70, 'reservations', 'guestcontact'),
	(71, 'reservations', 'onlinebooking'),
	(72, 'reservations', 'serviceperiod'),
	(73, 'reservations', 'serviceperiodchange'),
	(74, 'reservations', 'closure'),
	(75, 'reservations', 'closurechange'),
	(76, 'reservations', 'area'),
	(77, 'reservations', 'table'),
	(78, 'reservations', 'tablechange'),
	(79, 'reservations', 'combination'),
	(80, 'reservations', 'seating'),
	(81, 'reservations', 'hold'),
	(82, 'reservations', 'brandingimage'),
	(83, 'reservations', 'branding'),
	(84, 'reservations', 'agreedterms'),
	(85, 'reservations', 'cancellationterms'),
	(86, 'reservations', 'cancellationtermschange'),
	(87, 'payments', 'audit'),
	(88, 'payments', 'payment'),
	(89, 'payments', 'paymentevent'),
	(90, 'payments', 'refund'),
	(91, 'payments', 'product'),
	(92, 'payments', 'price'),
	(93, 'payments', 'revenue'),
	(94, 'payments', 'wallet'),
	(95, 'payments', 'walletsession'),
	(96, 'payments', 'holdingsnapshot'),
	(97, 'payments', 'spentchallenge'),
	(98, 'payments', 'plan'),
	(99, 'payments', 'tierterms'),
	(100, 'payments', 'receiver'),
	(101, 'payments', 'billing'),
	(102, 'payments', 'invoice'),
	(103, 'catalogue', 'source'),
	(104, 'catalogue', 'market'),
	(105, 'catalogue', 'cuisine'),
	(106, 'catalogue', 'attribute'),
	(107, 'catalogue', 'holiday'),
	(108, 'catalogue', 'restaurant'),
	(109, 'catalogue', 'sourcerecord'),
	(110, 'catalogue', 'matchcandidate'),
	(111, 'catalogue', 'export'),
	(112, 'catalogue', 'exportpart'),
	(113, 'catalogue', 'removal'),
	(114, 'catalogue', 'importrun'),
	(115, 'catalogue', 'insight'),
	(116, 'catalogue', 'insightdemand'),
	(117, 'catalogue', 'insightcall'),
	(118, 'catalogue', 'landmark'),
	(119, 'catalogue', 'landmarkname'),
	(120, 'catalogue', 'listing'),
	(121, 'catalogue', 'flowrule'),
	(122, 'catalogue', 'flowslot'),
	(123, 'catalogue', 'flowbooking'),
	(124, 'catalogue', 'review'),
	(125, 'catalogue', 'reviewchange'),
	(126, 'catalogue', 'photo'),
	(127, 'catalogue', 'record'),
	(128, 'catalogue', 'searchrow'),
	(129, 'catalogue', 'kitchen'),
	(130, 'catalogue', 'report'),
	(131, 'catalogue', 'version'),
	(132, 'catalogue', 'formerslug'),
	(133, 'catalogue', 'photoimport'),
	(134, 'catalogue', 'neighborhoodchange'),
	(135, 'catalogue', 'deposit'),
	(136, 'catalogue', 'restaurantclaim');
INSERT INTO public.django_migrations VALUES
	(1, 'contenttypes', '0001_initial', now()),
	(2, 'contenttypes', '0002_remove_content_type_name', now()),
	(3, 'auth', '0001_initial', now()),
	(4, 'auth', '0002_alter_permission_name_max_length', now()),
	(5, 'auth', '0003_alter_user_email_max_length', now()),
	(6, 'auth', '0004_alter_user_username_opts', now()),
	(7, 'auth', '0005_alter_user_last_login_null', now()),
	(8, 'auth', '0006_require_contenttypes_0002', now()),
	(9, 'auth', '0007_alter_validators_add_error_messages', now()),
	(10, 'auth', '0008_alter_user_username_max_length', now()),
	(11, 'auth', '0009_alter_user_last_name_max_length', now()),
	(12, 'auth', '0010_alter_group_name_max_length', now()),
	(13, 'auth', '0011_update_proxy_permissions', now()),
	(14, 'auth', '0012_alter_user_first_name_max_length', now()),
	(15, 'accounts', '0001_initial', now()),
	(16, 'account', '0001_initial', now()),
	(17, 'account', '0002_email_max_length', now()),
	(18, 'account', '0003_alter_emailaddress_create_unique_verified_email', now()),
	(19, 'account', '0004_alter_emailaddress_drop_unique_email', now()),
	(20, 'account', '0005_emailaddress_idx_upper_email', now()),
	(21, 'account', '0006_emailaddress_lower', now()),
	(22, 'account', '0007_emailaddress_idx_email', now()),
	(23, 'account', '0008_emailaddress_unique_primary_email_fixup', now()),
	(24, 'account', '0009_emailaddress_unique_primary_email', now()),
	(25, 'accounts', '0002_functions_and_triggers', now()),
	(26, 'accounts', '0003_user_last_venue', now()),
	(27, 'accounts', '0004_demo_data', now()),
	(28, 'accounts', '0005_webhook_endpoint_postponed_until', now()),
	(29, 'accounts', '0006_order_stages', now()),
	(30, 'accounts', '0007_menu_events', now()),
	(31, 'accounts', '0008_menu_scope', now()),
	(32, 'accounts', '0009_language', now()),
	(33, 'accounts', '0010_staff_access', now()),
	(34, 'accounts', '0011_user_language', now()),
	(35, 'accounts', '0012_alerts', now()),
	(36, 'accounts', '0013_back_office', now()),
	(37, 'accounts', '0014_push_device_server_key', now()),
	(38, 'accounts', '0015_webhook_scopes', now()),
	(39, 'accounts', '0016_validate_webhook_scopes', now()),
	(40, 'accounts', '0017_failed_deliveries', now()),
	(41, 'accounts', '0018_oauthapp_oauthcode_oauthgrant_oauthtoken_and_more', now()),
	(42, 'accounts', '0019_webhook_endpoint_grant', now()),
	(43, 'accounts', '0020_api_key_data_access', now()),
	(44, 'accounts', '0021_sandbox_clock', now()),
	(45, 'admin', '0001_initial', now()),
	(46, 'admin', '0002_logentry_remove_auto_add', now()),
	(47, 'admin', '0003_logentry_add_action_flag_choices', now()),
	(48, 'payments', '0001_initial', now()),
	(49, 'payments', '0002_functions_and_triggers', now()),
	(50, 'payments', '0003_owners_and_receivers', now()),
	(51, 'payments', '0004_wallet_holdings_between_readings', now()),
	(52, 'reservations', '0001_initial', now()),
	(53, 'catalogue', '0001_initial', now()),
	(54, 'catalogue', '0002_functions_and_triggers', now()),
	(55, 'catalogue', '0003_suppliers_and_reasons', now()),
	(56, 'catalogue', '0004_kind_tags_and_valid_ratings', now()),
	(57, 'catalogue', '0005_photo_imports', now()),
	(58, 'catalogue', '0006_cuisine_tree', now()),
	(59, 'catalogue', '0007_streets_and_postal_codes', now()),
	(60, 'catalogue', '0008_bookings_without_offer', now()),
	(61, 'catalogue', '0009_bookings_of_owners', now()),
	(62, 'catalogue', '0010_hotels', now()),
	(63, 'catalogue', '0011_degrees_of_attributes', now()),
	(64, 'catalogue', '0012_market_regions_and_neighborhood_changes', now()),
	(65, 'catalogue', '0013_regions_of_markets', now()),
	(66, 'catalogue', '0014_deposits', now()),
	(67, 'catalogue', '0015_phone_contacts', now()),
	(68, 'catalogue', '0016_phone_contact_index', now()),
	(69, 'catalogue', '0017_menus_are_exported', now()),
	(70, 'catalogue', '0018_claims', now()),
	(71, 'catalogue', '0019_claim_proofs', now()),
	(72, 'catalogue', '0020_restaurant_website_index', now()),
	(73, 'catalogue', '0021_newest_reviews', now()),
	(74, 'mfa', '0001_initial', now()),
	(75, 'mfa', '0002_authenticator_timestamps', now()),
	(76, 'mfa', '0003_authenticator_type_uniq', now()),
	(77, 'orders', '0001_initial', now()),
	(78, 'orders', '0002_functions_and_triggers', now()),
	(79, 'orders', '0003_allergens_and_photos', now()),
	(80, 'orders', '0004_order_stages', now()),
	(81, 'orders', '0005_order_lists', now()),
	(82, 'orders', '0006_whole_orders', now()),
	(83, 'orders', '0007_modifiers_on_one_menu', now()),
	(84, 'orders', '0008_order_with_contact', now()),
	(85, 'orders', '0009_board_settings', now()),
	(86, 'orders', '0010_menu_sold_out_until_and_translations', now()),
	(87, 'orders', '0011_no_usdc_without_a_price', now()),
	(88, 'orders', '0012_usdc_price_and_pauses', now()),
	(89, 'orders', '0013_order_payments', now()),
	(90, 'orders', '0014_validate_payments', now()),
	(91, 'orders', '0015_orders_with_refund_due', now()),
	(92, 'orders', '0016_ticket_claims', now()),
	(93, 'orders', '0017_fold', now()),
	(94, 'orders', '0018_menu_item_search', now()),
	(95, 'orders', '0019_checkout_sessions', now()),
	(96, 'payments', '0005_billing', now()),
	(97, 'payments', '0006_payment_account', now()),
	(98, 'payments', '0007_payments_of_account', now()),
	(99, 'payments', '0008_refund_requests', now()),
	(100, 'payments', '0009_open_refund_requests', now()),
	(101, 'pghistory', '0001_initial', now()),
	(102, 'pghistory', '0002_aggregateevent', now()),
	(103, 'pghistory', '0003_auto_20201023_1636', now()),
	(104, 'pghistory', '0004_auto_20220906_1625', now()),
	(105, 'pghistory', '0005_events_middlewareevents', now()),
	(106, 'pghistory', '0006_delete_aggregateevent', now()),
	(107, 'pghistory', '0007_auto_20250421_0444', now()),
	(108, 'reservations', '0002_functions_and_triggers', now()),
	(109, 'reservations', '0003_holds', now()),
	(110, 'reservations', '0004_validate_seatings', now()),
	(111, 'reservations', '0005_seating_by_hold', now()),
	(112, 'reservations', '0006_guest_mail_former', now()),
	(113, 'reservations', '0007_reservation_quoted_minutes', now()),
	(114, 'reservations', '0008_branding', now()),
	(115, 'reservations', '0009_terms_and_deposits', now()),
	(116, 'reservations', '0010_language', now()),
	(117, 'reservations', '0011_reservation_last_updated', now()),
	(118, 'sessions', '0001_initial', now()),
	(119, 'usersessions', '0001_initial', now());































































SELECT pg_catalog.setval('public.account_emailaddress_id_seq', 1, false);
SELECT pg_catalog.setval('public.account_emailconfirmation_id_seq', 1, false);
SELECT pg_catalog.setval('public.accounts_apicallcount_id_seq', 1, false);
SELECT pg_catalog.setval('public.accounts_apikeychange_pgh_id_seq', 1, false);
SELECT pg_catalog.setval('public.accounts_apikeychangecounter_id_seq', 1, false);
SELECT pg_catalog.setval('public.accounts_invitation_venues_id_seq', 1, false);
SELECT pg_catalog.setval('public.accounts_membership_id_seq', 1, false);
SELECT pg_catalog.setval('public.accounts_membership_venues_id_seq', 1, false);
SELECT pg_catalog.setval('public.accounts_membershipchange_pgh_id_seq', 1, false);
SELECT pg_catalog.setval('public.accounts_recordcount_id_seq', 1, false);
SELECT pg_catalog.setval('public.accounts_user_groups_id_seq', 1, false);
SELECT pg_catalog.setval('public.accounts_user_id_seq', 1, false);
SELECT pg_catalog.setval('public.accounts_user_user_permissions_id_seq', 1, false);
SELECT pg_catalog.setval('public.accounts_venuechange_pgh_id_seq', 1, false);
SELECT pg_catalog.setval('public.accounts_webhookendpointchange_pgh_id_seq', 1, false);
SELECT pg_catalog.setval('public.auth_group_id_seq', 3, true);
SELECT pg_catalog.setval('public.auth_group_permissions_id_seq', 1, false);
SELECT pg_catalog.setval('public.auth_permission_id_seq', 540, true);
SELECT pg_catalog.setval('public.catalogue_exportpart_id_seq', 1, false);
SELECT pg_catalog.setval('public.catalogue_flowrule_id_seq', 1, false);
SELECT pg_catalog.setval('public.catalogue_holiday_id_seq', 1, false);
SELECT pg_catalog.setval('public.catalogue_importrun_id_seq', 1, false);
SELECT pg_catalog.setval('public.catalogue_kitchen_id_seq', 1, false);
SELECT pg_catalog.setval('public.catalogue_landmarkname_id_seq', 1, false);
SELECT pg_catalog.setval('public.catalogue_listing_id_seq', 1, false);
SELECT pg_catalog.setval('public.catalogue_matchcandidate_id_seq', 1, false);
SELECT pg_catalog.setval('public.catalogue_neighborhoodchange_id_seq', 1, false);
SELECT pg_catalog.setval('public.catalogue_photoimport_id_seq', 1, false);
SELECT pg_catalog.setval('public.catalogue_removal_id_seq', 1, false);
SELECT pg_catalog.setval('public.catalogue_reviewchange_id_seq', 1, false);
SELECT pg_catalog.setval('public.catalogue_sourcerecord_id_seq', 1, false);
SELECT pg_catalog.setval('public.catalogue_version_feed', 1, false);
SELECT pg_catalog.setval('public.catalogue_version_id_seq', 1, false);
SELECT pg_catalog.setval('public.django_admin_log_id_seq', 1, false);
SELECT pg_catalog.setval('public.django_content_type_id_seq', 136, true);
SELECT pg_catalog.setval('public.django_migrations_id_seq', 119, true);
SELECT pg_catalog.setval('public.mfa_authenticator_id_seq', 1, false);
SELECT pg_catalog.setval('public.orders_chargerulechange_pgh_id_seq', 1, false);
SELECT pg_catalog.setval('public.orders_itemmodifiergroupchange_pgh_id_seq', 1, false);
SELECT pg_catalog.setval('public.orders_menucategorychange_pgh_id_seq', 1, false);
SELECT pg_catalog.setval('public.orders_menuchange_pgh_id_seq', 1, false);
SELECT pg_catalog.setval('public.orders_menuitemchange_pgh_id_seq', 1, false);
SELECT pg_catalog.setval('public.orders_modifierchange_pgh_id_seq', 1, false);
SELECT pg_catalog.setval('public.orders_modifiergroupchange_pgh_id_seq', 1, false);
SELECT pg_catalog.setval('public.orders_orderingsettingschange_pgh_id_seq', 1, false);
SELECT pg_catalog.setval('public.orders_orderitem_id_seq', 1, false);
SELECT pg_catalog.setval('public.orders_ordernumber_id_seq', 1, false);
SELECT pg_catalog.setval('public.orders_orderslot_id_seq', 1, false);
SELECT pg_catalog.setval('public.payments_holdingsnapshot_id_seq', 1, false);
SELECT pg_catalog.setval('public.payments_invoice_id_seq', 1, false);
SELECT pg_catalog.setval('public.payments_paymentevent_id_seq', 1, false);
SELECT pg_catalog.setval('public.payments_price_id_seq', 1, false);
SELECT pg_catalog.setval('public.payments_receiver_id_seq', 1, false);
SELECT pg_catalog.setval('public.reservations_cancellationtermschange_pgh_id_seq', 1, false);
SELECT pg_catalog.setval('public.reservations_closurechange_pgh_id_seq', 1, false);
SELECT pg_catalog.setval('public.reservations_combination_tables_id_seq', 1, false);
SELECT pg_catalog.setval('public.reservations_guestcontact_id_seq', 1, false);
SELECT pg_catalog.setval('public.reservations_seating_id_seq', 1, false);
SELECT pg_catalog.setval('public.reservations_serviceperiodchange_pgh_id_seq', 1, false);
SELECT pg_catalog.setval('public.reservations_tablechange_pgh_id_seq', 1, false);
SELECT pg_catalog.setval('public.usersessions_usersession_id_seq', 1, false);
ALTER TABLE ONLY public.payments_audit
    ADD CONSTRAINT a_block_is_audited_once_for_an_address UNIQUE (network, pay_to, first_block);
ALTER TABLE ONLY public.payments_walletsession
    ADD CONSTRAINT a_challenge_opens_one_session UNIQUE (nonce);
ALTER TABLE ONLY public.payments_payment
    ADD CONSTRAINT a_proof_pays_once UNIQUE (network, proof_key);
ALTER TABLE ONLY public.payments_receiver
    ADD CONSTRAINT a_receiver_is_stored_once UNIQUE (network, address);
ALTER TABLE ONLY public.account_emailaddress
    ADD CONSTRAINT account_emailaddress_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.account_emailaddress
    ADD CONSTRAINT account_emailaddress_user_id_email_987c8728_uniq UNIQUE (user_id, email);
ALTER TABLE ONLY public.account_emailconfirmation
    ADD CONSTRAINT account_emailconfirmation_key_key UNIQUE (key);
ALTER TABLE ONLY public.account_emailconfirmation
    ADD CONSTRAINT account_emailconfirmation_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.accounts_account
    ADD CONSTRAINT accounts_account_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.accounts_alert
    ADD CONSTRAINT accounts_alert_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.accounts_alertsubscription
    ADD CONSTRAINT accounts_alertsubscription_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.accounts_apicall
    ADD CONSTRAINT accounts_apicall_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.accounts_apicallcount
    ADD CONSTRAINT accounts_apicallcount_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.accounts_apikey
    ADD CONSTRAINT accounts_apikey_digest_key UNIQUE (digest);
ALTER TABLE ONLY public.accounts_apikey
    ADD CONSTRAINT accounts_apikey_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.accounts_apikeychange
    ADD CONSTRAINT accounts_apikeychange_pkey PRIMARY KEY (pgh_id);
ALTER TABLE ONLY public.accounts_apikeychangecounter
    ADD CONSTRAINT accounts_apikeychangecounter_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.accounts_assignment
    ADD CONSTRAINT accounts_assignment_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.accounts_demodata
    ADD CONSTRAINT accounts_demodata_pkey PRIMARY KEY (venue_id);
ALTER TABLE ONLY public.accounts_event
    ADD CONSTRAINT accounts_event_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.accounts_idempotentcall
    ADD CONSTRAINT accounts_idempotentcall_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.accounts_invitation
    ADD CONSTRAINT accounts_invitation_digest_key UNIQUE (digest);
ALTER TABLE ONLY public.accounts_invitation
    ADD CONSTRAINT accounts_invitation_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.accounts_invitation_venues
    ADD CONSTRAINT accounts_invitation_venues_invitation_id_venue_id_e35eb02c_uniq UNIQUE (invitation_id, venue_id);
ALTER TABLE ONLY public.accounts_invitation_venues
    ADD CONSTRAINT accounts_invitation_venues_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.accounts_membership
    ADD CONSTRAINT accounts_membership_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.accounts_membership_venues
    ADD CONSTRAINT accounts_membership_venues_membership_id_venue_id_c17dccac_uniq UNIQUE (membership_id, venue_id);
ALTER TABLE ONLY public.accounts_membership_venues
    ADD CONSTRAINT accounts_membership_venues_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.accounts_membershipchange
    ADD CONSTRAINT accounts_membershipchange_pkey PRIMARY KEY (pgh_id);
ALTER TABLE ONLY public.accounts_oauthapp
    ADD CONSTRAINT accounts_oauthapp_document_url_key UNIQUE (document_url);
ALTER TABLE ONLY public.accounts_oauthapp
    ADD CONSTRAINT accounts_oauthapp_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.accounts_oauthcode
    ADD CONSTRAINT accounts_oauthcode_pkey PRIMARY KEY (digest);
ALTER TABLE ONLY public.accounts_oauthgrant
    ADD CONSTRAINT accounts_oauthgrant_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.accounts_oauthtoken
    ADD CONSTRAINT accounts_oauthtoken_digest_key UNIQUE (digest);
ALTER TABLE ONLY public.accounts_oauthtoken
    ADD CONSTRAINT accounts_oauthtoken_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.accounts_outgoingmail
    ADD CONSTRAINT accounts_outgoingmail_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.accounts_pushdevice
    ADD CONSTRAINT accounts_pushdevice_endpoint_key UNIQUE (endpoint);
ALTER TABLE ONLY public.accounts_pushdevice
    ADD CONSTRAINT accounts_pushdevice_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.accounts_recordcount
    ADD CONSTRAINT accounts_recordcount_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.accounts_sandboxclock
    ADD CONSTRAINT accounts_sandboxclock_pkey PRIMARY KEY (venue_id);
ALTER TABLE ONLY public.accounts_savedfilter
    ADD CONSTRAINT accounts_savedfilter_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.accounts_staffaccess
    ADD CONSTRAINT accounts_staffaccess_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.accounts_user
    ADD CONSTRAINT accounts_user_email_key UNIQUE (email);
ALTER TABLE ONLY public.accounts_user_groups
    ADD CONSTRAINT accounts_user_groups_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.accounts_user_groups
    ADD CONSTRAINT accounts_user_groups_user_id_group_id_59c0b32f_uniq UNIQUE (user_id, group_id);
ALTER TABLE ONLY public.accounts_user
    ADD CONSTRAINT accounts_user_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.accounts_user_user_permissions
    ADD CONSTRAINT accounts_user_user_permi_user_id_permission_id_2ab516c2_uniq UNIQUE (user_id, permission_id);
ALTER TABLE ONLY public.accounts_user_user_permissions
    ADD CONSTRAINT accounts_user_user_permissions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.accounts_venue
    ADD CONSTRAINT accounts_venue_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.accounts_venuechange
    ADD CONSTRAINT accounts_venuechange_pkey PRIMARY KEY (pgh_id);
ALTER TABLE ONLY public.accounts_webhookdelivery
    ADD CONSTRAINT accounts_webhookdelivery_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.accounts_webhookendpoint
    ADD CONSTRAINT accounts_webhookendpoint_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.accounts_webhookendpointchange
    ADD CONSTRAINT accounts_webhookendpointchange_pkey PRIMARY KEY (pgh_id);
ALTER TABLE ONLY public.accounts_alertsubscription
    ADD CONSTRAINT alert_subscription_unique_per_member_venue_and_channel UNIQUE (membership_id, venue_id, channel);
ALTER TABLE ONLY public.accounts_alert
    ADD CONSTRAINT alert_unique_per_subscription_and_event UNIQUE (subscription_id, event_id);
ALTER TABLE ONLY public.accounts_apicallcount
    ADD CONSTRAINT api_call_count_unique_per_venue_and_hour UNIQUE (venue_id, hour);
ALTER TABLE ONLY public.accounts_apikey
    ADD CONSTRAINT api_key_one_per_app_and_venue UNIQUE (app_id, venue_id);
ALTER TABLE ONLY public.reservations_area
    ADD CONSTRAINT area_name_unique_per_venue UNIQUE (venue_id, name);
ALTER TABLE ONLY public.accounts_assignment
    ADD CONSTRAINT assignment_has_one_assignee UNIQUE (queue, object_id);
ALTER TABLE ONLY public.auth_group
    ADD CONSTRAINT auth_group_name_key UNIQUE (name);
ALTER TABLE ONLY public.auth_group_permissions
    ADD CONSTRAINT auth_group_permissions_group_id_permission_id_0cd325b0_uniq UNIQUE (group_id, permission_id);
ALTER TABLE ONLY public.auth_group_permissions
    ADD CONSTRAINT auth_group_permissions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.auth_group
    ADD CONSTRAINT auth_group_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.auth_permission
    ADD CONSTRAINT auth_permission_content_type_id_codename_01ab375a_uniq UNIQUE (content_type_id, codename);
ALTER TABLE ONLY public.auth_permission
    ADD CONSTRAINT auth_permission_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.catalogue_attribute
    ADD CONSTRAINT catalogue_attribute_pkey PRIMARY KEY (key);
ALTER TABLE ONLY public.catalogue_cuisine
    ADD CONSTRAINT catalogue_cuisine_pkey PRIMARY KEY (slug);
ALTER TABLE ONLY public.catalogue_deposit
    ADD CONSTRAINT catalogue_deposit_payment_id_key UNIQUE (payment_id);
ALTER TABLE ONLY public.catalogue_deposit
    ADD CONSTRAINT catalogue_deposit_pkey PRIMARY KEY (booking_id);
ALTER TABLE ONLY public.catalogue_export
    ADD CONSTRAINT catalogue_export_payment_id_key UNIQUE (payment_id);
ALTER TABLE ONLY public.catalogue_export
    ADD CONSTRAINT catalogue_export_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.catalogue_exportpart
    ADD CONSTRAINT catalogue_exportpart_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.catalogue_flowbooking
    ADD CONSTRAINT catalogue_flowbooking_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.catalogue_flowbooking
    ADD CONSTRAINT catalogue_flowbooking_reservation_id_key UNIQUE (reservation_id);
ALTER TABLE ONLY public.catalogue_flowrule
    ADD CONSTRAINT catalogue_flowrule_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.catalogue_flowslot
    ADD CONSTRAINT catalogue_flowslot_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.catalogue_formerslug
    ADD CONSTRAINT catalogue_formerslug_pkey PRIMARY KEY (slug);
ALTER TABLE ONLY public.catalogue_holiday
    ADD CONSTRAINT catalogue_holiday_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.catalogue_importrun
    ADD CONSTRAINT catalogue_importrun_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.catalogue_insight
    ADD CONSTRAINT catalogue_insight_pkey PRIMARY KEY (restaurant_id);
ALTER TABLE ONLY public.catalogue_insightcall
    ADD CONSTRAINT catalogue_insightcall_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.catalogue_insightdemand
    ADD CONSTRAINT catalogue_insightdemand_pkey PRIMARY KEY (restaurant_id);
ALTER TABLE ONLY public.catalogue_kitchen
    ADD CONSTRAINT catalogue_kitchen_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.catalogue_landmark
    ADD CONSTRAINT catalogue_landmark_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.catalogue_landmark
    ADD CONSTRAINT catalogue_landmark_wikidata_key UNIQUE (wikidata);
ALTER TABLE ONLY public.catalogue_landmarkname
    ADD CONSTRAINT catalogue_landmarkname_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.catalogue_listing
    ADD CONSTRAINT catalogue_listing_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.catalogue_listing
    ADD CONSTRAINT catalogue_listing_restaurant_id_key UNIQUE (restaurant_id);
ALTER TABLE ONLY public.catalogue_listing
    ADD CONSTRAINT catalogue_listing_venue_id_key UNIQUE (venue_id);
ALTER TABLE ONLY public.catalogue_market
    ADD CONSTRAINT catalogue_market_pkey PRIMARY KEY (slug);
ALTER TABLE ONLY public.catalogue_matchcandidate
    ADD CONSTRAINT catalogue_matchcandidate_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.catalogue_neighborhoodchange
    ADD CONSTRAINT catalogue_neighborhoodchange_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.catalogue_photo
    ADD CONSTRAINT catalogue_photo_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.catalogue_photoimport
    ADD CONSTRAINT catalogue_photoimport_photo_id_key UNIQUE (photo_id);
ALTER TABLE ONLY public.catalogue_photoimport
    ADD CONSTRAINT catalogue_photoimport_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.catalogue_record
    ADD CONSTRAINT catalogue_record_pkey PRIMARY KEY (restaurant_id);
ALTER TABLE ONLY public.catalogue_record
    ADD CONSTRAINT catalogue_record_slug_key UNIQUE (slug);
ALTER TABLE ONLY public.catalogue_removal
    ADD CONSTRAINT catalogue_removal_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.catalogue_report
    ADD CONSTRAINT catalogue_report_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.catalogue_restaurant
    ADD CONSTRAINT catalogue_restaurant_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.catalogue_restaurant
    ADD CONSTRAINT catalogue_restaurant_slug_key UNIQUE (slug);
ALTER TABLE ONLY public.catalogue_restaurantclaim
    ADD CONSTRAINT catalogue_restaurantclaim_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.catalogue_review
    ADD CONSTRAINT catalogue_review_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.catalogue_reviewchange
    ADD CONSTRAINT catalogue_reviewchange_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.catalogue_searchrow
    ADD CONSTRAINT catalogue_searchrow_pkey PRIMARY KEY (restaurant_id);
ALTER TABLE ONLY public.catalogue_source
    ADD CONSTRAINT catalogue_source_pkey PRIMARY KEY (key);
ALTER TABLE ONLY public.catalogue_sourcerecord
    ADD CONSTRAINT catalogue_sourcerecord_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.catalogue_version
    ADD CONSTRAINT catalogue_version_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.catalogue_version
    ADD CONSTRAINT catalogue_version_seq_key UNIQUE (seq);
ALTER TABLE ONLY public.orders_chargerule
    ADD CONSTRAINT charge_rule_name_unique_per_venue UNIQUE (venue_id, name);
ALTER TABLE ONLY public.reservations_combination
    ADD CONSTRAINT combination_name_unique_per_venue UNIQUE (venue_id, name);
ALTER TABLE ONLY public.django_admin_log
    ADD CONSTRAINT django_admin_log_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.django_content_type
    ADD CONSTRAINT django_content_type_app_label_model_76bd3d3b_uniq UNIQUE (app_label, model);
ALTER TABLE ONLY public.django_content_type
    ADD CONSTRAINT django_content_type_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.django_migrations
    ADD CONSTRAINT django_migrations_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.django_session
    ADD CONSTRAINT django_session_pkey PRIMARY KEY (session_key);
ALTER TABLE ONLY public.reservations_guestcontact
    ADD CONSTRAINT guest_contact_unique_per_venue UNIQUE (venue_id, address);
ALTER TABLE ONLY public.accounts_idempotentcall
    ADD CONSTRAINT idempotency_key_unique_per_scope UNIQUE (scope, key);
ALTER TABLE ONLY public.accounts_membership
    ADD CONSTRAINT membership_unique_per_user_and_account UNIQUE (account_id, user_id);
ALTER TABLE ONLY public.orders_menucategory
    ADD CONSTRAINT menu_category_name_unique_per_menu UNIQUE (menu_id, name);
ALTER TABLE ONLY public.orders_menucategory
    ADD CONSTRAINT menu_category_of_a_menu UNIQUE (id, menu_id);
ALTER TABLE ONLY public.orders_menuitem
    ADD CONSTRAINT menu_item_id_unique_per_menu UNIQUE (menu_id, ref);
ALTER TABLE ONLY public.orders_menuitem
    ADD CONSTRAINT menu_item_of_a_menu UNIQUE (id, menu_id);
ALTER TABLE ONLY public.mfa_authenticator
    ADD CONSTRAINT mfa_authenticator_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.orders_modifiergroup
    ADD CONSTRAINT modifier_group_id_unique_per_menu UNIQUE (menu_id, ref);
ALTER TABLE ONLY public.orders_modifiergroup
    ADD CONSTRAINT modifier_group_of_a_menu UNIQUE (id, menu_id);
ALTER TABLE ONLY public.orders_itemmodifiergroup
    ADD CONSTRAINT modifier_group_once_per_menu_item UNIQUE (item_id, group_id);
ALTER TABLE ONLY public.orders_modifier
    ADD CONSTRAINT modifier_id_unique_per_menu UNIQUE (menu_id, ref);
ALTER TABLE ONLY public.payments_refund
    ADD CONSTRAINT nothing_that_was_moved_is_claimed_twice EXCLUDE USING gist (tx_hash WITH =, "to" WITH =, numrange(offset_usdc, (offset_usdc + amount_usdc)) WITH &&);
ALTER TABLE ONLY public.payments_invoice
    ADD CONSTRAINT one_invoice_of_an_account_a_month UNIQUE (account_id, month);
ALTER TABLE ONLY public.payments_plan
    ADD CONSTRAINT one_plan_of_a_wallet_at_a_time EXCLUDE USING gist (wallet_id WITH =, tstzrange(valid_from, valid_until, '[)'::text) WITH &&) WHERE ((wallet_id IS NOT NULL));
ALTER TABLE ONLY public.payments_plan
    ADD CONSTRAINT one_plan_of_an_account_at_a_time EXCLUDE USING gist (account_id WITH =, tstzrange(valid_from, valid_until, '[)'::text) WITH &&) WHERE ((account_id IS NOT NULL));
ALTER TABLE ONLY public.payments_price
    ADD CONSTRAINT one_price_of_a_product_and_rate_at_a_moment UNIQUE (product_id, rate, valid_from);
ALTER TABLE ONLY public.payments_holdingsnapshot
    ADD CONSTRAINT one_snapshot_of_a_wallet_at_a_moment UNIQUE (wallet_id, read_at);
ALTER TABLE ONLY public.orders_orderitem
    ADD CONSTRAINT order_item_position_unique_per_order UNIQUE (order_id, "position");
ALTER TABLE ONLY public.orders_ordernumber
    ADD CONSTRAINT order_number_counter_unique_per_venue_and_day UNIQUE (venue_id, business_date);
ALTER TABLE ONLY public.orders_order
    ADD CONSTRAINT order_number_unique_per_venue_and_day UNIQUE (venue_id, business_date, number);
ALTER TABLE ONLY public.orders_orderslot
    ADD CONSTRAINT order_slot_unique_per_venue UNIQUE (venue_id, starts_at);
ALTER TABLE ONLY public.orders_chargerule
    ADD CONSTRAINT orders_chargerule_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.orders_chargerulechange
    ADD CONSTRAINT orders_chargerulechange_pkey PRIMARY KEY (pgh_id);
ALTER TABLE ONLY public.orders_checkoutsession
    ADD CONSTRAINT orders_checkoutsession_order_id_key UNIQUE (order_id);
ALTER TABLE ONLY public.orders_checkoutsession
    ADD CONSTRAINT orders_checkoutsession_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.orders_dishphoto
    ADD CONSTRAINT orders_dishphoto_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.orders_itemmodifiergroup
    ADD CONSTRAINT orders_itemmodifiergroup_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.orders_itemmodifiergroupchange
    ADD CONSTRAINT orders_itemmodifiergroupchange_pkey PRIMARY KEY (pgh_id);
ALTER TABLE ONLY public.orders_menu
    ADD CONSTRAINT orders_menu_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.orders_menu
    ADD CONSTRAINT orders_menu_venue_id_key UNIQUE (venue_id);
ALTER TABLE ONLY public.orders_menucategory
    ADD CONSTRAINT orders_menucategory_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.orders_menucategorychange
    ADD CONSTRAINT orders_menucategorychange_pkey PRIMARY KEY (pgh_id);
ALTER TABLE ONLY public.orders_menuchange
    ADD CONSTRAINT orders_menuchange_pkey PRIMARY KEY (pgh_id);
ALTER TABLE ONLY public.orders_menuitem
    ADD CONSTRAINT orders_menuitem_photo_id_key UNIQUE (photo_id);
ALTER TABLE ONLY public.orders_menuitem
    ADD CONSTRAINT orders_menuitem_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.orders_menuitemchange
    ADD CONSTRAINT orders_menuitemchange_pkey PRIMARY KEY (pgh_id);
ALTER TABLE ONLY public.orders_menuupload
    ADD CONSTRAINT orders_menuupload_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.orders_modifier
    ADD CONSTRAINT orders_modifier_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.orders_modifierchange
    ADD CONSTRAINT orders_modifierchange_pkey PRIMARY KEY (pgh_id);
ALTER TABLE ONLY public.orders_modifiergroup
    ADD CONSTRAINT orders_modifiergroup_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.orders_modifiergroupchange
    ADD CONSTRAINT orders_modifiergroupchange_pkey PRIMARY KEY (pgh_id);
ALTER TABLE ONLY public.orders_order
    ADD CONSTRAINT orders_order_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.orders_orderingsettings
    ADD CONSTRAINT orders_orderingsettings_pkey PRIMARY KEY (venue_id);
ALTER TABLE ONLY public.orders_orderingsettingschange
    ADD CONSTRAINT orders_orderingsettingschange_pkey PRIMARY KEY (pgh_id);
ALTER TABLE ONLY public.orders_orderitem
    ADD CONSTRAINT orders_orderitem_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.orders_ordernumber
    ADD CONSTRAINT orders_ordernumber_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.orders_orderslot
    ADD CONSTRAINT orders_orderslot_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.payments_audit
    ADD CONSTRAINT payments_audit_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.payments_billing
    ADD CONSTRAINT payments_billing_pkey PRIMARY KEY (account_id);
ALTER TABLE ONLY public.payments_holdingsnapshot
    ADD CONSTRAINT payments_holdingsnapshot_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.payments_invoice
    ADD CONSTRAINT payments_invoice_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.payments_payment
    ADD CONSTRAINT payments_payment_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.payments_paymentevent
    ADD CONSTRAINT payments_paymentevent_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.payments_plan
    ADD CONSTRAINT payments_plan_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.payments_price
    ADD CONSTRAINT payments_price_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.payments_product
    ADD CONSTRAINT payments_product_pkey PRIMARY KEY (slug);
ALTER TABLE ONLY public.payments_receiver
    ADD CONSTRAINT payments_receiver_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.payments_refund
    ADD CONSTRAINT payments_refund_payment_id_key UNIQUE (payment_id);
ALTER TABLE ONLY public.payments_refund
    ADD CONSTRAINT payments_refund_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.payments_spentchallenge
    ADD CONSTRAINT payments_spentchallenge_pkey PRIMARY KEY (nonce);
ALTER TABLE ONLY public.payments_tierterms
    ADD CONSTRAINT payments_tierterms_pkey PRIMARY KEY (tier);
ALTER TABLE ONLY public.payments_wallet
    ADD CONSTRAINT payments_wallet_pkey PRIMARY KEY (address);
ALTER TABLE ONLY public.payments_walletsession
    ADD CONSTRAINT payments_walletsession_digest_key UNIQUE (digest);
ALTER TABLE ONLY public.payments_walletsession
    ADD CONSTRAINT payments_walletsession_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.pghistory_context
    ADD CONSTRAINT pghistory_context_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.accounts_recordcount
    ADD CONSTRAINT record_count_unique_per_venue_type_and_status UNIQUE (venue_id, record_type, status);
ALTER TABLE ONLY public.reservations_reservation
    ADD CONSTRAINT reservation_code_unique_per_venue UNIQUE (venue_id, code);
ALTER TABLE ONLY public.reservations_agreedterms
    ADD CONSTRAINT reservations_agreedterms_pkey PRIMARY KEY (reservation_id);
ALTER TABLE ONLY public.reservations_area
    ADD CONSTRAINT reservations_area_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.reservations_branding
    ADD CONSTRAINT reservations_branding_logo_id_key UNIQUE (logo_id);
ALTER TABLE ONLY public.reservations_branding
    ADD CONSTRAINT reservations_branding_photo_id_key UNIQUE (photo_id);
ALTER TABLE ONLY public.reservations_branding
    ADD CONSTRAINT reservations_branding_pkey PRIMARY KEY (venue_id);
ALTER TABLE ONLY public.reservations_brandingimage
    ADD CONSTRAINT reservations_brandingimage_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.reservations_cancellationterms
    ADD CONSTRAINT reservations_cancellationterms_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.reservations_cancellationtermschange
    ADD CONSTRAINT reservations_cancellationtermschange_pkey PRIMARY KEY (pgh_id);
ALTER TABLE ONLY public.reservations_closure
    ADD CONSTRAINT reservations_closure_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.reservations_closurechange
    ADD CONSTRAINT reservations_closurechange_pkey PRIMARY KEY (pgh_id);
ALTER TABLE ONLY public.reservations_combination_tables
    ADD CONSTRAINT reservations_combination_combination_id_table_id_12bdb6b7_uniq UNIQUE (combination_id, table_id);
ALTER TABLE ONLY public.reservations_combination
    ADD CONSTRAINT reservations_combination_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.reservations_combination_tables
    ADD CONSTRAINT reservations_combination_tables_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.reservations_guestcontact
    ADD CONSTRAINT reservations_guestcontact_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.reservations_guestmail
    ADD CONSTRAINT reservations_guestmail_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.reservations_guestprofile
    ADD CONSTRAINT reservations_guestprofile_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.reservations_hold
    ADD CONSTRAINT reservations_hold_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.reservations_onlinebooking
    ADD CONSTRAINT reservations_onlinebooking_pkey PRIMARY KEY (form_key);
ALTER TABLE ONLY public.reservations_onlinebooking
    ADD CONSTRAINT reservations_onlinebooking_reservation_id_key UNIQUE (reservation_id);
ALTER TABLE ONLY public.reservations_reservation
    ADD CONSTRAINT reservations_reservation_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.reservations_seating
    ADD CONSTRAINT reservations_seating_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.reservations_serviceperiod
    ADD CONSTRAINT reservations_serviceperiod_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.reservations_serviceperiodchange
    ADD CONSTRAINT reservations_serviceperiodchange_pkey PRIMARY KEY (pgh_id);
ALTER TABLE ONLY public.reservations_table
    ADD CONSTRAINT reservations_table_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.reservations_tablechange
    ADD CONSTRAINT reservations_tablechange_pkey PRIMARY KEY (pgh_id);
ALTER TABLE ONLY public.accounts_savedfilter
    ADD CONSTRAINT saved_filter_has_its_own_name UNIQUE (user_id, list_name, name);
ALTER TABLE ONLY public.reservations_seating
    ADD CONSTRAINT seating_no_table_overlap EXCLUDE USING gist (table_id WITH =, during WITH &&);
ALTER TABLE ONLY public.reservations_table
    ADD CONSTRAINT table_name_unique_per_venue UNIQUE (venue_id, name);
ALTER TABLE ONLY public.catalogue_exportpart
    ADD CONSTRAINT unique_export_part_seq UNIQUE (export_id, seq);
ALTER TABLE ONLY public.catalogue_landmarkname
    ADD CONSTRAINT unique_landmark_name UNIQUE (landmark_id, folded);
ALTER TABLE ONLY public.catalogue_holiday
    ADD CONSTRAINT unique_market_holiday UNIQUE (market_id, date);
ALTER TABLE ONLY public.catalogue_matchcandidate
    ADD CONSTRAINT unique_match_candidate_pair UNIQUE (first_id, second_id);
ALTER TABLE ONLY public.catalogue_photoimport
    ADD CONSTRAINT unique_photo_import_url UNIQUE (restaurant_id, url);
ALTER TABLE ONLY public.catalogue_kitchen
    ADD CONSTRAINT unique_restaurant_kitchen UNIQUE (restaurant_id, cuisine);
ALTER TABLE ONLY public.catalogue_version
    ADD CONSTRAINT unique_restaurant_version UNIQUE (restaurant_id, version);
ALTER TABLE ONLY public.catalogue_flowslot
    ADD CONSTRAINT unique_slot_start UNIQUE (rule_id, starts_at);
ALTER TABLE ONLY public.catalogue_sourcerecord
    ADD CONSTRAINT unique_source_record UNIQUE (source_id, record);
ALTER TABLE ONLY public.usersessions_usersession
    ADD CONSTRAINT usersessions_usersession_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.usersessions_usersession
    ADD CONSTRAINT usersessions_usersession_session_key_key UNIQUE (session_key);
ALTER TABLE ONLY public.accounts_webhookdelivery
    ADD CONSTRAINT webhook_delivery_unique_per_event_and_endpoint UNIQUE (event_id, endpoint_id);
CREATE UNIQUE INDEX a_payment_identifier_names_one_payment_of_its_payer ON public.payments_payment USING btree (payer, payment_identifier) WHERE (NOT ((payment_identifier)::text = ''::text));
CREATE UNIQUE INDEX a_payment_pays_one_order ON public.orders_order USING btree (usdc_payment) WHERE (usdc_payment IS NOT NULL);
CREATE INDEX account_emailaddress_email_03be32b2 ON public.account_emailaddress USING btree (email);
CREATE INDEX account_emailaddress_email_03be32b2_like ON public.account_emailaddress USING btree (email varchar_pattern_ops);
CREATE INDEX account_emailaddress_user_id_2c513194 ON public.account_emailaddress USING btree (user_id);
CREATE INDEX account_emailconfirmation_email_address_id_5b7f8c58 ON public.account_emailconfirmation USING btree (email_address_id);
CREATE INDEX account_emailconfirmation_key_f43612bd_like ON public.account_emailconfirmation USING btree (key varchar_pattern_ops);
CREATE INDEX accounts_alert_event_id_0e3479af ON public.accounts_alert USING btree (event_id);
CREATE INDEX accounts_alertsubscription_membership_id_48b8be61 ON public.accounts_alertsubscription USING btree (membership_id);
CREATE INDEX accounts_alertsubscription_venue_id_c7f2c6fd ON public.accounts_alertsubscription USING btree (venue_id);
CREATE INDEX accounts_apikey_app_id_2af3ccd2 ON public.accounts_apikey USING btree (app_id);
CREATE INDEX accounts_apikey_venue_id_fb78f1ae ON public.accounts_apikey USING btree (venue_id);
CREATE INDEX accounts_apikeychange_app_id_860a6bdb ON public.accounts_apikeychange USING btree (app_id);
CREATE INDEX accounts_apikeychange_pgh_obj_id_d4c2a43c ON public.accounts_apikeychange USING btree (pgh_obj_id);
CREATE INDEX accounts_apikeychange_venue_id_9e92be15 ON public.accounts_apikeychange USING btree (venue_id);
CREATE INDEX accounts_invitation_account_id_8e9dd036 ON public.accounts_invitation USING btree (account_id);
CREATE INDEX accounts_invitation_invited_by_id_94a21efc ON public.accounts_invitation USING btree (invited_by_id);
CREATE INDEX accounts_invitation_venues_invitation_id_e25666e6 ON public.accounts_invitation_venues USING btree (invitation_id);
CREATE INDEX accounts_invitation_venues_venue_id_b546da75 ON public.accounts_invitation_venues USING btree (venue_id);
CREATE INDEX accounts_membership_account_id_4cff857d ON public.accounts_membership USING btree (account_id);
CREATE INDEX accounts_membership_user_id_487fb39e ON public.accounts_membership USING btree (user_id);
CREATE INDEX accounts_membership_venues_membership_id_4ba12327 ON public.accounts_membership_venues USING btree (membership_id);
CREATE INDEX accounts_membership_venues_venue_id_bbcced4f ON public.accounts_membership_venues USING btree (venue_id);
CREATE INDEX accounts_membershipchange_account_id_1b4b5be7 ON public.accounts_membershipchange USING btree (account_id);
CREATE INDEX accounts_membershipchange_pgh_obj_id_a188b87e ON public.accounts_membershipchange USING btree (pgh_obj_id);
CREATE INDEX accounts_membershipchange_user_id_f34231c1 ON public.accounts_membershipchange USING btree (user_id);
CREATE INDEX accounts_oauthapp_account_id_5167572b ON public.accounts_oauthapp USING btree (account_id);
CREATE INDEX accounts_oauthapp_document_url_a169e0ae_like ON public.accounts_oauthapp USING btree (document_url varchar_pattern_ops);
CREATE INDEX accounts_oauthcode_grant_id_022ac9f9 ON public.accounts_oauthcode USING btree (grant_id);
CREATE INDEX accounts_oauthgrant_account_id_fea718f8 ON public.accounts_oauthgrant USING btree (account_id);
CREATE INDEX accounts_oauthgrant_app_id_7196d70f ON public.accounts_oauthgrant USING btree (app_id);
CREATE INDEX accounts_oauthgrant_user_id_3384734b ON public.accounts_oauthgrant USING btree (user_id);
CREATE INDEX accounts_oauthgrant_venue_id_3e83ab64 ON public.accounts_oauthgrant USING btree (venue_id);
CREATE INDEX accounts_oauthtoken_grant_id_dfd00bed ON public.accounts_oauthtoken USING btree (grant_id);
CREATE INDEX accounts_pushdevice_endpoint_8de8b613_like ON public.accounts_pushdevice USING btree (endpoint varchar_pattern_ops);
CREATE INDEX accounts_pushdevice_user_id_dda29fa8 ON public.accounts_pushdevice USING btree (user_id);
CREATE INDEX accounts_user_email_b2644a56_like ON public.accounts_user USING btree (email varchar_pattern_ops);
CREATE INDEX accounts_user_groups_group_id_bd11a704 ON public.accounts_user_groups USING btree (group_id);
CREATE INDEX accounts_user_groups_user_id_52b62117 ON public.accounts_user_groups USING btree (user_id);
CREATE INDEX accounts_user_user_permissions_permission_id_113bb443 ON public.accounts_user_user_permissions USING btree (permission_id);
CREATE INDEX accounts_user_user_permissions_user_id_e4f0a161 ON public.accounts_user_user_permissions USING btree (user_id);
CREATE INDEX accounts_venue_account_id_b700473d ON public.accounts_venue USING btree (account_id);
CREATE INDEX accounts_venuechange_account_id_1880ec74 ON public.accounts_venuechange USING btree (account_id);
CREATE INDEX accounts_venuechange_pgh_obj_id_45b7b559 ON public.accounts_venuechange USING btree (pgh_obj_id);
CREATE INDEX accounts_webhookdelivery_event_id_ff7f0aaa ON public.accounts_webhookdelivery USING btree (event_id);
CREATE INDEX accounts_webhookendpoint_grant_id_1a4627a4 ON public.accounts_webhookendpoint USING btree (grant_id);
CREATE INDEX accounts_webhookendpoint_venue_id_dff65153 ON public.accounts_webhookendpoint USING btree (venue_id);
CREATE INDEX accounts_webhookendpointchange_grant_id_e2253d7a ON public.accounts_webhookendpointchange USING btree (grant_id);
CREATE INDEX accounts_webhookendpointchange_pgh_obj_id_e705f5c0 ON public.accounts_webhookendpointchange USING btree (pgh_obj_id);
CREATE INDEX accounts_webhookendpointchange_venue_id_30a25925 ON public.accounts_webhookendpointchange USING btree (venue_id);
CREATE INDEX agreed_deposit_held ON public.reservations_agreedterms USING btree (reservation_id) WHERE ((deposit_state)::text = 'held'::text);
CREATE INDEX alert_pending ON public.accounts_alert USING btree (subscription_id) WHERE ((state)::text = 'pending'::text);
CREATE INDEX api_call_by_age ON public.accounts_apicall USING btree (created_at);
CREATE INDEX api_call_count_by_age ON public.accounts_apicallcount USING btree (hour);
CREATE INDEX api_call_failed_of_venue ON public.accounts_apicall USING btree (venue_id, created_at DESC, id DESC) WHERE (status >= 400);
CREATE INDEX api_call_newest_of_key ON public.accounts_apicall USING btree (key_id, created_at DESC, id DESC);
CREATE INDEX api_call_newest_of_venue ON public.accounts_apicall USING btree (venue_id, created_at DESC, id DESC);
CREATE INDEX api_call_server_error_of_venue ON public.accounts_apicall USING btree (venue_id, created_at DESC, id DESC) WHERE (status >= 500);
CREATE INDEX assignment_of_user ON public.accounts_assignment USING btree (user_id, queue);
CREATE INDEX auth_group_name_a6ea08ec_like ON public.auth_group USING btree (name varchar_pattern_ops);
CREATE INDEX auth_group_permissions_group_id_b120cbf9 ON public.auth_group_permissions USING btree (group_id);
CREATE INDEX auth_group_permissions_permission_id_84c5c92e ON public.auth_group_permissions USING btree (permission_id);
CREATE INDEX auth_permission_content_type_id_2f476e4b ON public.auth_permission USING btree (content_type_id);
CREATE INDEX catalogue_attribute_key_5c28e0db_like ON public.catalogue_attribute USING btree (key varchar_pattern_ops);
CREATE INDEX catalogue_cuisine_slug_626e0cbc_like ON public.catalogue_cuisine USING btree (slug varchar_pattern_ops);
CREATE INDEX catalogue_export_since_export_id_a15be328 ON public.catalogue_export USING btree (since_export_id);
CREATE INDEX catalogue_export_wallet_id_df1a9bfd ON public.catalogue_export USING btree (wallet_id);
CREATE INDEX catalogue_export_wallet_id_df1a9bfd_like ON public.catalogue_export USING btree (wallet_id varchar_pattern_ops);
CREATE INDEX catalogue_exportpart_export_id_9d9654c4 ON public.catalogue_exportpart USING btree (export_id);
CREATE INDEX catalogue_flowbooking_slot_id_78f06e4d ON public.catalogue_flowbooking USING btree (slot_id);
CREATE INDEX catalogue_flowrule_restaurant_id_ed04ffa7 ON public.catalogue_flowrule USING btree (restaurant_id);
CREATE INDEX catalogue_flowrule_source_record_id_9fee9780 ON public.catalogue_flowrule USING btree (source_record_id);
CREATE INDEX catalogue_flowslot_rule_id_38a08328 ON public.catalogue_flowslot USING btree (rule_id);
CREATE INDEX catalogue_formerslug_restaurant_id_244089cb ON public.catalogue_formerslug USING btree (restaurant_id);
CREATE INDEX catalogue_formerslug_slug_7dc604ad_like ON public.catalogue_formerslug USING btree (slug varchar_pattern_ops);
CREATE INDEX catalogue_holiday_market_id_6927f0d1 ON public.catalogue_holiday USING btree (market_id);
CREATE INDEX catalogue_holiday_market_id_6927f0d1_like ON public.catalogue_holiday USING btree (market_id varchar_pattern_ops);
CREATE INDEX catalogue_importrun_market_id_1ab47a6b ON public.catalogue_importrun USING btree (market_id);
CREATE INDEX catalogue_importrun_market_id_1ab47a6b_like ON public.catalogue_importrun USING btree (market_id varchar_pattern_ops);
CREATE INDEX catalogue_importrun_source_id_9170a710 ON public.catalogue_importrun USING btree (source_id);
CREATE INDEX catalogue_importrun_source_id_9170a710_like ON public.catalogue_importrun USING btree (source_id varchar_pattern_ops);
CREATE INDEX catalogue_insightcall_restaurant_id_57c6f55e ON public.catalogue_insightcall USING btree (restaurant_id);
CREATE INDEX catalogue_landmark_market_id_701d9ef2 ON public.catalogue_landmark USING btree (market_id);
CREATE INDEX catalogue_landmark_market_id_701d9ef2_like ON public.catalogue_landmark USING btree (market_id varchar_pattern_ops);
CREATE INDEX catalogue_landmark_source_id_7281b34d ON public.catalogue_landmark USING btree (source_id);
CREATE INDEX catalogue_landmark_source_id_7281b34d_like ON public.catalogue_landmark USING btree (source_id varchar_pattern_ops);
CREATE INDEX catalogue_landmark_wikidata_54f718a5_like ON public.catalogue_landmark USING btree (wikidata varchar_pattern_ops);
CREATE INDEX catalogue_landmarkname_landmark_id_3e34725c ON public.catalogue_landmarkname USING btree (landmark_id);
CREATE INDEX catalogue_market_slug_0997d2bb_like ON public.catalogue_market USING btree (slug varchar_pattern_ops);
CREATE INDEX catalogue_matchcandidate_decided_by_id_9df700c4 ON public.catalogue_matchcandidate USING btree (decided_by_id);
CREATE INDEX catalogue_matchcandidate_first_id_39c83912 ON public.catalogue_matchcandidate USING btree (first_id);
CREATE INDEX catalogue_matchcandidate_second_id_2ab6d1be ON public.catalogue_matchcandidate USING btree (second_id);
CREATE INDEX catalogue_record_slug_71f72f39_like ON public.catalogue_record USING btree (slug varchar_pattern_ops);
CREATE INDEX catalogue_report_decided_by_id_420b20c7 ON public.catalogue_report USING btree (decided_by_id);
CREATE INDEX catalogue_report_restaurant_id_7d1836f4 ON public.catalogue_report USING btree (restaurant_id);
CREATE INDEX catalogue_report_same_as_id_3095855a ON public.catalogue_report USING btree (same_as_id);
CREATE INDEX catalogue_restaurant_cuisine_id_1d861cc4 ON public.catalogue_restaurant USING btree (cuisine_id);
CREATE INDEX catalogue_restaurant_cuisine_id_1d861cc4_like ON public.catalogue_restaurant USING btree (cuisine_id varchar_pattern_ops);
CREATE INDEX catalogue_restaurant_market_id_e7c8829a ON public.catalogue_restaurant USING btree (market_id);
CREATE INDEX catalogue_restaurant_market_id_e7c8829a_like ON public.catalogue_restaurant USING btree (market_id varchar_pattern_ops);
CREATE INDEX catalogue_restaurant_merged_into_id_1ac16507 ON public.catalogue_restaurant USING btree (merged_into_id);
CREATE INDEX catalogue_restaurant_slug_1aefb742_like ON public.catalogue_restaurant USING btree (slug varchar_pattern_ops);
CREATE INDEX catalogue_restaurantclaim_decided_by_id_ce254331 ON public.catalogue_restaurantclaim USING btree (decided_by_id);
CREATE INDEX catalogue_restaurantclaim_requested_by_id_64d9a4d7 ON public.catalogue_restaurantclaim USING btree (requested_by_id);
CREATE INDEX catalogue_restaurantclaim_restaurant_id_096dab7c ON public.catalogue_restaurantclaim USING btree (restaurant_id);
CREATE INDEX catalogue_restaurantclaim_venue_id_471da703 ON public.catalogue_restaurantclaim USING btree (venue_id);
CREATE INDEX catalogue_source_key_f2a0e793_like ON public.catalogue_source USING btree (key varchar_pattern_ops);
CREATE INDEX catalogue_sourcerecord_restaurant_id_e3db45c0 ON public.catalogue_sourcerecord USING btree (restaurant_id);
CREATE INDEX catalogue_sourcerecord_source_id_15064a59 ON public.catalogue_sourcerecord USING btree (source_id);
CREATE INDEX catalogue_sourcerecord_source_id_15064a59_like ON public.catalogue_sourcerecord USING btree (source_id varchar_pattern_ops);
CREATE INDEX checkout_session_by_expiry ON public.orders_checkoutsession USING btree (expires_at);
CREATE INDEX checkout_session_placed ON public.orders_checkoutsession USING btree (updated_at) WHERE ((state)::text = 'placed'::text);
CREATE INDEX claim_oldest_of_state ON public.catalogue_restaurantclaim USING btree (state, created_at);
CREATE INDEX delivery_due ON public.accounts_webhookdelivery USING btree (next_attempt_at) WHERE ((state)::text = 'pending'::text);
CREATE INDEX delivery_due_of_endpoint ON public.accounts_webhookdelivery USING btree (endpoint_id, next_attempt_at) WHERE ((state)::text = 'pending'::text);
CREATE INDEX delivery_failed_of_endpoint ON public.accounts_webhookdelivery USING btree (endpoint_id, COALESCE(failed_at, last_attempt_at, created_at)) WHERE ((state)::text = 'failed'::text);
CREATE INDEX delivery_leased_of_endpoint ON public.accounts_webhookdelivery USING btree (endpoint_id) WHERE ((leased_until IS NOT NULL) AND ((state)::text = 'pending'::text));
CREATE INDEX delivery_newest_of_endpoint ON public.accounts_webhookdelivery USING btree (endpoint_id, created_at DESC, id DESC);
CREATE INDEX django_admin_log_content_type_id_c4bce8eb ON public.django_admin_log USING btree (content_type_id);
CREATE INDEX django_admin_log_user_id_c564eba6 ON public.django_admin_log USING btree (user_id);
CREATE INDEX django_session_expire_date_a5c62663 ON public.django_session USING btree (expire_date);
CREATE INDEX django_session_session_key_c0390e0f_like ON public.django_session USING btree (session_key varchar_pattern_ops);
CREATE INDEX event_by_age ON public.accounts_event USING btree (created_at);
CREATE INDEX event_newest_of_account ON public.accounts_event USING btree (account_id, created_at DESC, id DESC) WHERE (account_id IS NOT NULL);
CREATE INDEX event_newest_of_venue ON public.accounts_event USING btree (venue_id, created_at DESC, id DESC);
CREATE INDEX event_of_payer ON public.payments_paymentevent USING btree (payer, id);
CREATE INDEX event_of_payment ON public.payments_paymentevent USING btree (payment_id, id);
CREATE INDEX event_of_subject ON public.accounts_event USING btree (subject, created_at) WHERE (subject IS NOT NULL);
CREATE INDEX export_failed ON public.catalogue_export USING btree (created_at) WHERE ((status)::text = 'failed'::text);
CREATE INDEX export_newest_of_wallet ON public.catalogue_export USING btree (wallet_id, created_at DESC);
CREATE INDEX flow_booking_holding ON public.catalogue_flowbooking USING btree (slot_id) WHERE (released_at IS NULL);
CREATE INDEX flow_booking_of_contact ON public.catalogue_flowbooking USING btree (contact, created_at);
CREATE INDEX flow_booking_of_owner ON public.catalogue_flowbooking USING btree (owner, id) WHERE (NOT ((owner)::text = ''::text));
CREATE INDEX flow_booking_of_phone ON public.catalogue_flowbooking USING btree (phone_contact, created_at) WHERE (NOT ((phone_contact)::text = ''::text));
CREATE INDEX guest_mail_due ON public.reservations_guestmail USING btree (next_attempt_at) WHERE ((state)::text = 'pending'::text);
CREATE UNIQUE INDEX guest_mail_one_reminder ON public.reservations_guestmail USING btree (reservation_id) WHERE ((kind)::text = 'reminder'::text);
CREATE INDEX hold_by_expiry ON public.reservations_hold USING btree (expires_at);
CREATE INDEX hold_by_venue_expiry ON public.reservations_hold USING btree (venue_id, expires_at);
CREATE INDEX idempotent_call_by_age ON public.accounts_idempotentcall USING btree (created_at);
CREATE INDEX insight_call_by_day ON public.catalogue_insightcall USING btree (started_at);
CREATE INDEX insight_call_of_restaurant ON public.catalogue_insightcall USING btree (restaurant_id, started_at DESC);
CREATE INDEX insight_demand_by_weight ON public.catalogue_insightdemand USING btree (request_count DESC, first_requested_at);
CREATE INDEX insight_not_approved ON public.catalogue_insight USING btree (provider) WHERE ((approved_at IS NULL) AND (NOT ((text)::text = ''::text)));
CREATE UNIQUE INDEX invitation_open_unique_per_address_and_account ON public.accounts_invitation USING btree (account_id, lower((email)::text)) WHERE ((accepted_at IS NULL) AND (withdrawn_at IS NULL));
CREATE INDEX kitchen_by_cuisine_and_position ON public.catalogue_kitchen USING gist (cuisine, "position", price_level);
CREATE INDEX landmark_by_position ON public.catalogue_landmark USING gist ("position");
CREATE INDEX landmark_name_exact ON public.catalogue_landmarkname USING btree (folded);
CREATE INDEX landmark_name_trigrams ON public.catalogue_landmarkname USING gin (folded public.gin_trgm_ops);
CREATE INDEX match_candidate_by_score ON public.catalogue_matchcandidate USING btree (state, score DESC, id);
CREATE INDEX menu_item_by_trigrams ON public.orders_menuitem USING gin (public.fold(((COALESCE(name, ''::character varying))::text || COALESCE((COALESCE('
'::text, ''::text) || (COALESCE(ref, ''::character varying))::text), ''::text))) public.gin_trgm_ops);
CREATE INDEX menu_upload_newest_of_venue ON public.orders_menuupload USING btree (venue_id, created_at DESC);
CREATE INDEX mfa_authenticator_user_id_0c3a50c0 ON public.mfa_authenticator USING btree (user_id);
CREATE UNIQUE INDEX oauth_grant_one_of_app_itself ON public.accounts_oauthgrant USING btree (app_id, resource) WHERE (user_id IS NULL);
CREATE INDEX oauth_token_by_expiry ON public.accounts_oauthtoken USING btree (expires_at);
CREATE INDEX online_booking_by_contact ON public.reservations_onlinebooking USING btree (contact_hash);
CREATE INDEX online_booking_by_ip ON public.reservations_onlinebooking USING btree (ip_hash, created_at);
CREATE INDEX order_last_cancelled ON public.orders_order USING btree (venue_id, cancelled_at DESC, id DESC) WHERE (cancelled_at IS NOT NULL);
CREATE INDEX order_last_completed ON public.orders_order USING btree (venue_id, completed_at DESC, id DESC) WHERE (completed_at IS NOT NULL);
CREATE INDEX order_last_updated ON public.orders_order USING btree (venue_id, updated_at);
CREATE INDEX order_newest_of_customer ON public.orders_order USING btree (venue_id, customer_id, created_at DESC, id DESC);
CREATE INDEX order_newest_of_status ON public.orders_order USING btree (venue_id, status, created_at DESC, id DESC);
CREATE INDEX order_newest_of_venue ON public.orders_order USING btree (venue_id, created_at DESC, id DESC);
CREATE INDEX order_refund_due ON public.orders_order USING btree (updated_at) WHERE ((payment_state)::text = 'refund_due'::text);
CREATE INDEX order_with_contact ON public.orders_order USING btree (created_at) WHERE (NOT (((contact_email)::text = ''::text) AND ((contact_name)::text = ''::text) AND ((contact_phone)::text = ''::text)));
CREATE INDEX orders_chargerule_venue_id_db4dce03 ON public.orders_chargerule USING btree (venue_id);
CREATE INDEX orders_chargerulechange_pgh_obj_id_da42a94e ON public.orders_chargerulechange USING btree (pgh_obj_id);
CREATE INDEX orders_chargerulechange_venue_id_953bfde5 ON public.orders_chargerulechange USING btree (venue_id);
CREATE INDEX orders_checkoutsession_venue_id_f620bb4c ON public.orders_checkoutsession USING btree (venue_id);
CREATE INDEX orders_itemmodifiergroup_group_id_4e412be5 ON public.orders_itemmodifiergroup USING btree (group_id);
CREATE INDEX orders_itemmodifiergroup_menu_id_d432a193 ON public.orders_itemmodifiergroup USING btree (menu_id);
CREATE INDEX orders_itemmodifiergroupchange_group_id_2ffedaf9 ON public.orders_itemmodifiergroupchange USING btree (group_id);
CREATE INDEX orders_itemmodifiergroupchange_item_id_eadb3dec ON public.orders_itemmodifiergroupchange USING btree (item_id);
CREATE INDEX orders_itemmodifiergroupchange_menu_id_11de73b7 ON public.orders_itemmodifiergroupchange USING btree (menu_id);
CREATE INDEX orders_itemmodifiergroupchange_pgh_obj_id_ec5e3b03 ON public.orders_itemmodifiergroupchange USING btree (pgh_obj_id);
CREATE INDEX orders_menucategorychange_menu_id_eeb1420b ON public.orders_menucategorychange USING btree (menu_id);
CREATE INDEX orders_menucategorychange_pgh_obj_id_51b7c718 ON public.orders_menucategorychange USING btree (pgh_obj_id);
CREATE INDEX orders_menuchange_pgh_obj_id_f3f5940e ON public.orders_menuchange USING btree (pgh_obj_id);
CREATE INDEX orders_menuchange_venue_id_eab153ff ON public.orders_menuchange USING btree (venue_id);
CREATE INDEX orders_menuitem_category_id_c5c025fe ON public.orders_menuitem USING btree (category_id);
CREATE INDEX orders_menuitemchange_category_id_8bd6e484 ON public.orders_menuitemchange USING btree (category_id);
CREATE INDEX orders_menuitemchange_menu_id_24e7b222 ON public.orders_menuitemchange USING btree (menu_id);
CREATE INDEX orders_menuitemchange_pgh_obj_id_82680da2 ON public.orders_menuitemchange USING btree (pgh_obj_id);
CREATE INDEX orders_menuitemchange_photo_id_58ad8b51 ON public.orders_menuitemchange USING btree (photo_id);
CREATE INDEX orders_modifier_group_id_5f5d9b81 ON public.orders_modifier USING btree (group_id);
CREATE INDEX orders_modifier_item_id_590129e7 ON public.orders_modifier USING btree (item_id);
CREATE INDEX orders_modifier_nested_group_id_8b5047e7 ON public.orders_modifier USING btree (nested_group_id);
CREATE INDEX orders_modifierchange_group_id_60ffcab9 ON public.orders_modifierchange USING btree (group_id);
CREATE INDEX orders_modifierchange_item_id_6228234c ON public.orders_modifierchange USING btree (item_id);
CREATE INDEX orders_modifierchange_menu_id_514b6944 ON public.orders_modifierchange USING btree (menu_id);
CREATE INDEX orders_modifierchange_nested_group_id_ac3bb161 ON public.orders_modifierchange USING btree (nested_group_id);
CREATE INDEX orders_modifierchange_pgh_obj_id_c1b30a8e ON public.orders_modifierchange USING btree (pgh_obj_id);
CREATE INDEX orders_modifiergroupchange_menu_id_c52e4868 ON public.orders_modifiergroupchange USING btree (menu_id);
CREATE INDEX orders_modifiergroupchange_pgh_obj_id_84029e4b ON public.orders_modifiergroupchange USING btree (pgh_obj_id);
CREATE INDEX orders_orderingsettingschange_pgh_obj_id_e6e97014 ON public.orders_orderingsettingschange USING btree (pgh_obj_id);
CREATE INDEX orders_orderingsettingschange_venue_id_64438dc7 ON public.orders_orderingsettingschange USING btree (venue_id);
CREATE INDEX outgoing_mail_by_topic ON public.accounts_outgoingmail USING btree (topic) WHERE (NOT ((topic)::text = ''::text));
CREATE INDEX outgoing_mail_due ON public.accounts_outgoingmail USING btree (next_attempt_at);
CREATE INDEX payment_arrived ON public.payments_payment USING btree (settled_at, id) WHERE (settled_at IS NOT NULL);
CREATE INDEX payment_by_block ON public.payments_payment USING btree (block);
CREATE INDEX payment_by_transaction ON public.payments_payment USING btree (tx_hash);
CREATE INDEX payment_event_by_age ON public.payments_paymentevent USING btree (at);
CREATE INDEX payment_expired ON public.payments_payment USING btree (created_at) WHERE ((state)::text = 'expired'::text);
CREATE INDEX payment_newest_of_payer ON public.payments_payment USING btree (payer, created_at DESC);
CREATE INDEX payment_of_account ON public.payments_payment USING btree (account_id, created_at) WHERE (account_id IS NOT NULL);
CREATE INDEX payment_open ON public.payments_payment USING btree (claimed_at) WHERE (state = ANY (ARRAY['claimed'::character varying, 'unknown'::character varying]));
CREATE INDEX payment_refund_due ON public.payments_payment USING btree (settled_at) WHERE ((state)::text = 'refund_due'::text);
CREATE INDEX payment_refund_requested ON public.payments_payment USING btree (refund_requested_at) WHERE ((refund_declined_at IS NULL) AND (refund_requested_at IS NOT NULL) AND ((state)::text = 'delivered'::text));
CREATE INDEX payment_unconfirmed ON public.payments_payment USING btree (settled_at) WHERE ((block IS NULL) AND (state = ANY (ARRAY['settled'::character varying, 'delivered'::character varying, 'refund_due'::character varying, 'refunded'::character varying])));
CREATE INDEX payment_undelivered ON public.payments_payment USING btree (settled_at) WHERE ((delivered_at IS NULL) AND ((state)::text = 'settled'::text));
CREATE INDEX payment_undelivered_of_payer ON public.payments_payment USING btree (payer, created_at DESC) WHERE (state = ANY (ARRAY['claimed'::character varying, 'unknown'::character varying, 'settled'::character varying, 'expired'::character varying, 'refund_due'::character varying, 'refunded'::character varying]));
CREATE INDEX payments_holdingsnapshot_wallet_id_8d3fecd9 ON public.payments_holdingsnapshot USING btree (wallet_id);
CREATE INDEX payments_holdingsnapshot_wallet_id_8d3fecd9_like ON public.payments_holdingsnapshot USING btree (wallet_id varchar_pattern_ops);
CREATE INDEX payments_invoice_account_id_bb78a876 ON public.payments_invoice USING btree (account_id);
CREATE INDEX payments_plan_account_id_36184858 ON public.payments_plan USING btree (account_id);
CREATE INDEX payments_plan_wallet_id_460e3a5f ON public.payments_plan USING btree (wallet_id);
CREATE INDEX payments_plan_wallet_id_460e3a5f_like ON public.payments_plan USING btree (wallet_id varchar_pattern_ops);
CREATE INDEX payments_price_product_id_58ace98a ON public.payments_price USING btree (product_id);
CREATE INDEX payments_price_product_id_58ace98a_like ON public.payments_price USING btree (product_id varchar_pattern_ops);
CREATE INDEX payments_product_slug_b82d2509_like ON public.payments_product USING btree (slug varchar_pattern_ops);
CREATE INDEX payments_spentchallenge_expires_at_36dd196f ON public.payments_spentchallenge USING btree (expires_at);
CREATE INDEX payments_spentchallenge_nonce_b1ba9d51_like ON public.payments_spentchallenge USING btree (nonce varchar_pattern_ops);
CREATE INDEX payments_tierterms_tier_a0947bbe_like ON public.payments_tierterms USING btree (tier varchar_pattern_ops);
CREATE INDEX payments_wallet_account_id_abbcf483 ON public.payments_wallet USING btree (account_id);
CREATE INDEX payments_wallet_address_2e2d24b2_like ON public.payments_wallet USING btree (address varchar_pattern_ops);
CREATE INDEX payments_walletsession_digest_61a2feeb_like ON public.payments_walletsession USING btree (digest varchar_pattern_ops);
CREATE INDEX payments_walletsession_wallet_id_e49273b5 ON public.payments_walletsession USING btree (wallet_id);
CREATE INDEX payments_walletsession_wallet_id_e49273b5_like ON public.payments_walletsession USING btree (wallet_id varchar_pattern_ops);
CREATE INDEX photo_import_due ON public.catalogue_photoimport USING btree (next_try_at, id) WHERE ((state)::text = 'pending'::text);
CREATE INDEX photo_import_newest_of_state ON public.catalogue_photoimport USING btree (state, id DESC);
CREATE INDEX photo_newest_of_restaurant ON public.catalogue_photo USING btree (restaurant_id, created_at DESC, id DESC);
CREATE INDEX photo_of_review ON public.catalogue_photo USING btree (review_id) WHERE (review_id IS NOT NULL);
CREATE INDEX record_by_update ON public.catalogue_record USING brin (updated_at) WITH (autosummarize='on');
CREATE INDEX refund_by_transaction ON public.payments_refund USING btree (tx_hash);
CREATE INDEX refund_unconfirmed ON public.payments_refund USING btree (created_at) WHERE (confirmed_at IS NULL);
CREATE INDEX removal_by_age ON public.catalogue_removal USING btree (dataset, at, id);
CREATE INDEX report_oldest_of_state ON public.catalogue_report USING btree (state, created_at);
CREATE INDEX reservation_by_email ON public.reservations_reservation USING btree (venue_id, lower((customer_email)::text));
CREATE INDEX reservation_by_guest_trigram ON public.reservations_reservation USING gin (venue_id, upper(((COALESCE(customer_name, ''::character varying))::text || COALESCE((COALESCE('
'::text, ''::text) || COALESCE(((COALESCE(customer_email, ''::character varying))::text || COALESCE((COALESCE('
'::text, ''::text) || (COALESCE(customer_phone, ''::character varying))::text), ''::text)), ''::text)), ''::text))) public.gin_trgm_ops);
CREATE INDEX reservation_by_phone ON public.reservations_reservation USING btree (venue_id, customer_phone);
CREATE INDEX reservation_by_venue_date ON public.reservations_reservation USING btree (venue_id, date, starts_at, id);
CREATE INDEX reservation_by_venue_start ON public.reservations_reservation USING btree (venue_id, starts_at, id);
CREATE INDEX reservation_last_updated ON public.reservations_reservation USING btree (venue_id, updated_at);
CREATE INDEX reservation_unconfirmed ON public.reservations_reservation USING btree (confirm_by) WHERE (confirm_by IS NOT NULL);
CREATE INDEX reservation_waitlisted ON public.reservations_reservation USING btree (venue_id, starts_at, created_at) WHERE (((pending_reason)::text = 'waitlist'::text) AND ((status)::text = 'pending'::text));
CREATE INDEX reservations_cancellationterms_venue_id_2b02032c ON public.reservations_cancellationterms USING btree (venue_id);
CREATE INDEX reservations_cancellationtermschange_pgh_obj_id_eec73547 ON public.reservations_cancellationtermschange USING btree (pgh_obj_id);
CREATE INDEX reservations_cancellationtermschange_venue_id_8e6ce530 ON public.reservations_cancellationtermschange USING btree (venue_id);
CREATE INDEX reservations_closure_venue_id_4b2362be ON public.reservations_closure USING btree (venue_id);
CREATE INDEX reservations_closurechange_pgh_obj_id_78566e0e ON public.reservations_closurechange USING btree (pgh_obj_id);
CREATE INDEX reservations_closurechange_venue_id_2394e1a8 ON public.reservations_closurechange USING btree (venue_id);
CREATE INDEX reservations_combination_tables_combination_id_f287ac68 ON public.reservations_combination_tables USING btree (combination_id);
CREATE INDEX reservations_combination_tables_table_id_f5b08994 ON public.reservations_combination_tables USING btree (table_id);
CREATE INDEX reservations_guestcontact_profile_id_b882ecdc ON public.reservations_guestcontact USING btree (profile_id);
CREATE INDEX reservations_guestmail_reservation_id_fd70ae05 ON public.reservations_guestmail USING btree (reservation_id);
CREATE INDEX reservations_guestprofile_merged_into_id_462fe074 ON public.reservations_guestprofile USING btree (merged_into_id);
CREATE INDEX reservations_guestprofile_venue_id_76d49177 ON public.reservations_guestprofile USING btree (venue_id);
CREATE INDEX reservations_seating_reservation_id_4c93f778 ON public.reservations_seating USING btree (reservation_id);
CREATE INDEX reservations_serviceperiod_venue_id_b0a8750e ON public.reservations_serviceperiod USING btree (venue_id);
CREATE INDEX reservations_serviceperiodchange_pgh_obj_id_6c3f777b ON public.reservations_serviceperiodchange USING btree (pgh_obj_id);
CREATE INDEX reservations_serviceperiodchange_venue_id_27187fd3 ON public.reservations_serviceperiodchange USING btree (venue_id);
CREATE INDEX reservations_table_area_id_a9896987 ON public.reservations_table USING btree (area_id);
CREATE INDEX reservations_tablechange_area_id_dd2b2ba5 ON public.reservations_tablechange USING btree (area_id);
CREATE INDEX reservations_tablechange_pgh_obj_id_57b030de ON public.reservations_tablechange USING btree (pgh_obj_id);
CREATE INDEX reservations_tablechange_venue_id_fe798a2c ON public.reservations_tablechange USING btree (venue_id);
CREATE INDEX restaurant_by_market ON public.catalogue_restaurant USING btree (market_id, id);
CREATE INDEX restaurant_by_name_trigrams ON public.catalogue_restaurant USING gin (public.fold((name)::text) public.gin_trgm_ops);
CREATE INDEX restaurant_by_phone ON public.catalogue_restaurant USING btree (phone) WHERE (phone IS NOT NULL);
CREATE INDEX restaurant_by_position ON public.catalogue_restaurant USING gist ("position");
CREATE INDEX restaurant_by_postal_code ON public.catalogue_restaurant USING btree (upper(replace((postal_code)::text, ' '::text, ''::text)));
CREATE INDEX restaurant_by_update ON public.catalogue_restaurant USING btree (updated_at, id);
CREATE INDEX restaurant_by_website ON public.catalogue_restaurant USING btree (website varchar_pattern_ops) WHERE (website IS NOT NULL);
CREATE INDEX restaurant_not_open ON public.catalogue_restaurant USING btree (status, id) WHERE (NOT ((status)::text = 'open'::text));
CREATE INDEX restaurant_with_unparsed_hours ON public.catalogue_restaurant USING btree (id) WHERE ((hours @> '{"known": false}'::jsonb) OR (hours ? 'notes'::text));
CREATE INDEX review_by_update ON public.catalogue_review USING brin (updated_at) WITH (autosummarize='on');
CREATE INDEX review_change_of_restaurant ON public.catalogue_reviewchange USING btree (restaurant);
CREATE INDEX review_newest ON public.catalogue_review USING btree (created_at);
CREATE INDEX review_newest_of_restaurant ON public.catalogue_review USING btree (restaurant_id, created_at DESC, id DESC);
CREATE INDEX search_by_address ON public.catalogue_searchrow USING btree (line1);
CREATE INDEX search_by_cuisine ON public.catalogue_searchrow USING gin (cuisines);
CREATE INDEX search_by_document ON public.catalogue_searchrow USING gin (document);
CREATE INDEX search_by_market_rating ON public.catalogue_searchrow USING btree (market, rank_stars DESC, rank_reviews DESC, restaurant_id);
CREATE INDEX search_by_market_reviews ON public.catalogue_searchrow USING btree (market, rank_reviews DESC, restaurant_id);
CREATE INDEX search_by_name ON public.catalogue_searchrow USING btree (name text_pattern_ops);
CREATE INDEX search_by_name_trigrams ON public.catalogue_searchrow USING gin (name public.gin_trgm_ops);
CREATE INDEX search_by_position ON public.catalogue_searchrow USING gist ("position");
CREATE INDEX search_by_ranking ON public.catalogue_searchrow USING btree (ranked_at);
CREATE INDEX search_by_rating ON public.catalogue_searchrow USING btree (rank_stars DESC, rank_reviews DESC, restaurant_id);
CREATE INDEX search_by_reviews ON public.catalogue_searchrow USING btree (rank_reviews DESC, restaurant_id);
CREATE INDEX search_by_street ON public.catalogue_searchrow USING btree (btrim(regexp_replace((line1)::text, '\m[0-9]+[a-z]?\M'::text, ''::text, 'g'::text), ' ,'::text));
CREATE INDEX search_without_intervals ON public.catalogue_searchrow USING btree (restaurant_id) WHERE intervals_missing;
CREATE INDEX seating_by_hold ON public.reservations_seating USING btree (hold_id) WHERE (hold_id IS NOT NULL);
CREATE INDEX slot_booked ON public.catalogue_flowslot USING btree (starts_at) WHERE (seats_left < seats);
CREATE INDEX slot_next_of_restaurant ON public.catalogue_flowslot USING btree (restaurant_id, starts_at);
CREATE INDEX slot_on_sale ON public.catalogue_flowslot USING btree (starts_at) WHERE ((seats_left > 0) AND (withdrawn_at IS NULL));
CREATE INDEX snapshot_by_age ON public.payments_holdingsnapshot USING btree (read_at);
CREATE INDEX staff_access_newest_of_venue ON public.accounts_staffaccess USING btree (venue_id, opened_at DESC);
CREATE UNIQUE INDEX staff_access_once_an_hour ON public.accounts_staffaccess USING btree (venue_id, email, date_trunc('hour'::text, (opened_at AT TIME ZONE 'UTC'::text)));
CREATE UNIQUE INDEX unique_authenticator_type ON public.mfa_authenticator USING btree (user_id, type) WHERE (type = ANY (ARRAY['totp'::character varying, 'recovery_codes'::character varying]));
CREATE UNIQUE INDEX unique_current_claim_of_venue ON public.catalogue_restaurantclaim USING btree (venue_id) WHERE (state = ANY (ARRAY['code_sent'::character varying, 'open'::character varying, 'verified'::character varying]));
CREATE UNIQUE INDEX unique_open_insight_call ON public.catalogue_insightcall USING btree (restaurant_id) WHERE ((outcome)::text = 'pending'::text);
CREATE UNIQUE INDEX unique_open_report ON public.catalogue_report USING btree (restaurant_id, kind, reporter, md5((text)::text), same_as_id) NULLS NOT DISTINCT WHERE ((state)::text = 'open'::text);
CREATE UNIQUE INDEX unique_primary_email ON public.account_emailaddress USING btree (user_id, "primary") WHERE "primary";
CREATE UNIQUE INDEX unique_unfinished_export ON public.catalogue_export USING btree (wallet_id, fingerprint) NULLS NOT DISTINCT WHERE (status = ANY (ARRAY['awaiting_payment'::character varying, 'queued'::character varying, 'running'::character varying]));
CREATE UNIQUE INDEX unique_verified_claim_of_restaurant ON public.catalogue_restaurantclaim USING btree (restaurant_id) WHERE ((state)::text = 'verified'::text);
CREATE UNIQUE INDEX unique_verified_email ON public.account_emailaddress USING btree (email) WHERE verified;
CREATE UNIQUE INDEX user_email_unique_in_any_case ON public.accounts_user USING btree (lower((email)::text));
CREATE INDEX usersessions_usersession_session_key_fd35de43_like ON public.usersessions_usersession USING btree (session_key varchar_pattern_ops);
CREATE INDEX usersessions_usersession_user_id_af5e0a6d ON public.usersessions_usersession USING btree (user_id);
CREATE INDEX version_by_kind ON public.catalogue_version USING btree (kind, id);
CREATE INDEX version_without_seq ON public.catalogue_version USING btree (id) WHERE (seq IS NULL);
CREATE TRIGGER api_key_changed AFTER DELETE OR UPDATE OF venue_id, family, scopes, allowance, expires_at, revoked_at, digest ON public.accounts_apikey FOR EACH STATEMENT EXECUTE FUNCTION public.count_api_key_change();
CREATE TRIGGER cuisine_updated_at BEFORE UPDATE ON public.catalogue_cuisine FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.set_updated_at();
CREATE TRIGGER flowrule_delete_outdates_insights AFTER DELETE ON public.catalogue_flowrule REFERENCING OLD TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION public.mark_insights_outdated_by_rows();
CREATE TRIGGER flowrule_insert_outdates_insights AFTER INSERT ON public.catalogue_flowrule REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION public.mark_insights_outdated_by_rows();
CREATE TRIGGER flowrule_outdates_insights AFTER UPDATE ON public.catalogue_flowrule REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.mark_insights_outdated_by_flow_rules();
CREATE TRIGGER forbid_payment_event_change BEFORE DELETE OR UPDATE ON public.payments_paymentevent FOR EACH ROW EXECUTE FUNCTION public.forbid_payment_event_change();
CREATE TRIGGER forbid_venue_currency_change BEFORE UPDATE OF currency ON public.accounts_venue FOR EACH ROW WHEN (((old.currency)::text <> (new.currency)::text)) EXECUTE FUNCTION public.forbid_venue_currency_change();
CREATE TRIGGER forbid_venue_timezone_change BEFORE UPDATE OF timezone ON public.accounts_venue FOR EACH ROW WHEN (((new.timezone)::text IS DISTINCT FROM (old.timezone)::text)) EXECUTE FUNCTION public.forbid_venue_timezone_change();
CREATE TRIGGER increment_restaurant_version BEFORE UPDATE ON public.catalogue_restaurant FOR EACH ROW EXECUTE FUNCTION public.increment_restaurant_version();
CREATE TRIGGER insight_delete_touches_record AFTER DELETE ON public.catalogue_insight REFERENCING OLD TABLE AS deleted_rows FOR EACH STATEMENT EXECUTE FUNCTION public.touch_records_on_insight_delete();
CREATE TRIGGER insight_updated_at BEFORE UPDATE ON public.catalogue_insight FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.set_updated_at();
CREATE TRIGGER insights_added AFTER INSERT ON public.catalogue_insight REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION public.render_related_restaurants();
CREATE TRIGGER insights_changed AFTER UPDATE ON public.catalogue_insight REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION public.render_related_restaurants();
CREATE TRIGGER landmark_removals AFTER DELETE ON public.catalogue_landmark REFERENCING OLD TABLE AS deleted_rows FOR EACH STATEMENT EXECUTE FUNCTION public.insert_removals('landmarks', 'lm');
CREATE TRIGGER landmark_updated_at BEFORE UPDATE ON public.catalogue_landmark FOR EACH ROW EXECUTE FUNCTION public.set_updated_at();
CREATE TRIGGER oauth_grant_revoked AFTER UPDATE OF revoked_at ON public.accounts_oauthgrant FOR EACH ROW WHEN (((old.revoked_at IS NULL) AND (new.revoked_at IS NOT NULL))) EXECUTE FUNCTION public.disable_endpoints_of_grant();
CREATE TRIGGER orders_added AFTER INSERT ON public.orders_order REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.update_record_counts('order');
CREATE TRIGGER orders_changed AFTER UPDATE ON public.orders_order REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.update_record_counts('order');
CREATE TRIGGER orders_removed AFTER DELETE ON public.orders_order REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION public.update_record_counts('order');
CREATE TRIGGER payment_account BEFORE INSERT ON public.payments_payment FOR EACH ROW WHEN ((new.account_id IS NULL)) EXECUTE FUNCTION public.set_payment_account();
CREATE TRIGGER payment_inserted_or_deleted AFTER INSERT OR DELETE ON public.payments_payment FOR EACH ROW EXECUTE FUNCTION public.insert_payment_event();
CREATE TRIGGER payment_updated AFTER UPDATE ON public.payments_payment FOR EACH ROW WHEN ((((old.state)::text IS DISTINCT FROM (new.state)::text) OR (old.attempts IS DISTINCT FROM new.attempts) OR ((old.purchase)::text IS DISTINCT FROM (new.purchase)::text) OR (old.amount_usdc IS DISTINCT FROM new.amount_usdc) OR ((old.tx_hash)::text IS DISTINCT FROM (new.tx_hash)::text) OR ((old.error)::text IS DISTINCT FROM (new.error)::text))) EXECUTE FUNCTION public.insert_payment_event();
CREATE TRIGGER pgtrigger_added_insert_01e67 AFTER INSERT ON public.orders_modifiergroup FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_added_insert_01e67();
COMMENT ON TRIGGER pgtrigger_added_insert_01e67 ON public.orders_modifiergroup IS 'afec0d860ae7bb1ea0c23686511db18bcc3ec5c1';
CREATE TRIGGER pgtrigger_added_insert_0b370 AFTER INSERT ON public.orders_chargerule FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_added_insert_0b370();
COMMENT ON TRIGGER pgtrigger_added_insert_0b370 ON public.orders_chargerule IS 'a18cbc25e27150cec4b89108d495c05e7f14b4a7';
CREATE TRIGGER pgtrigger_added_insert_38770 AFTER INSERT ON public.orders_menuitem FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_added_insert_38770();
COMMENT ON TRIGGER pgtrigger_added_insert_38770 ON public.orders_menuitem IS '42a72c1a707d4242e7122f5833973d6266c32b09';
CREATE TRIGGER pgtrigger_added_insert_4128f AFTER INSERT ON public.accounts_webhookendpoint FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_added_insert_4128f();
COMMENT ON TRIGGER pgtrigger_added_insert_4128f ON public.accounts_webhookendpoint IS 'fe58963fa5442a4cbe4ee49f471b6fd7cc251b06';
CREATE TRIGGER pgtrigger_added_insert_446fe AFTER INSERT ON public.orders_modifier FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_added_insert_446fe();
COMMENT ON TRIGGER pgtrigger_added_insert_446fe ON public.orders_modifier IS 'b3ec30cd99d24c62d9f01fae510ffbba367b93ed';
CREATE TRIGGER pgtrigger_added_insert_46f06 AFTER INSERT ON public.reservations_cancellationterms FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_added_insert_46f06();
COMMENT ON TRIGGER pgtrigger_added_insert_46f06 ON public.reservations_cancellationterms IS '50177ad73d785cdfeb62c42f5c0cb8d80960c801';
CREATE TRIGGER pgtrigger_added_insert_6c1e9 AFTER INSERT ON public.orders_orderingsettings FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_added_insert_6c1e9();
COMMENT ON TRIGGER pgtrigger_added_insert_6c1e9 ON public.orders_orderingsettings IS '046951d8510e38753cf8d729ad04e6cd1f64ab90';
CREATE TRIGGER pgtrigger_added_insert_7ffe5 AFTER INSERT ON public.orders_menucategory FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_added_insert_7ffe5();
COMMENT ON TRIGGER pgtrigger_added_insert_7ffe5 ON public.orders_menucategory IS 'aba603ab25481e705fdc7b1da3d5f270b310c8eb';
CREATE TRIGGER pgtrigger_added_insert_a900e AFTER INSERT ON public.reservations_closure FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_added_insert_a900e();
COMMENT ON TRIGGER pgtrigger_added_insert_a900e ON public.reservations_closure IS '10e50a80e1cf50d15807a23450310a1444b806cd';
CREATE TRIGGER pgtrigger_added_insert_ad637 AFTER INSERT ON public.orders_itemmodifiergroup FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_added_insert_ad637();
COMMENT ON TRIGGER pgtrigger_added_insert_ad637 ON public.orders_itemmodifiergroup IS '0a0d9eac373e319ac92945884f9fb08b333e2d41';
CREATE TRIGGER pgtrigger_added_insert_b6f33 AFTER INSERT ON public.orders_menu FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_added_insert_b6f33();
COMMENT ON TRIGGER pgtrigger_added_insert_b6f33 ON public.orders_menu IS 'd56d65cbf862419d59d67631e169ee411fdd12b2';
CREATE TRIGGER pgtrigger_added_insert_c0b37 AFTER INSERT ON public.accounts_venue FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_added_insert_c0b37();
COMMENT ON TRIGGER pgtrigger_added_insert_c0b37 ON public.accounts_venue IS '6a8c3916aaf19118a548851b1b1c28bc8f2c304e';
CREATE TRIGGER pgtrigger_added_insert_d3b8e AFTER INSERT ON public.accounts_apikey FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_added_insert_d3b8e();
COMMENT ON TRIGGER pgtrigger_added_insert_d3b8e ON public.accounts_apikey IS 'fc5e592a8c55d2b485f008b016043e8747e82ae7';
CREATE TRIGGER pgtrigger_added_insert_f0184 AFTER INSERT ON public.accounts_membership FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_added_insert_f0184();
COMMENT ON TRIGGER pgtrigger_added_insert_f0184 ON public.accounts_membership IS '84fece4c55539ecca821a59d00461d4e0c0b5fb7';
CREATE TRIGGER pgtrigger_added_insert_f157e AFTER INSERT ON public.reservations_table FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_added_insert_f157e();
COMMENT ON TRIGGER pgtrigger_added_insert_f157e ON public.reservations_table IS '376d48dfabe638385e1786ddfb0c88b3034ca69d';
CREATE TRIGGER pgtrigger_added_insert_f8265 AFTER INSERT ON public.reservations_serviceperiod FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_added_insert_f8265();
COMMENT ON TRIGGER pgtrigger_added_insert_f8265 ON public.reservations_serviceperiod IS 'fd21e0de643d65b3d5e1bf5717553b9ee3ed2206';
CREATE TRIGGER pgtrigger_changed_update_2d660 AFTER UPDATE ON public.orders_orderingsettings FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.pgtrigger_changed_update_2d660();
COMMENT ON TRIGGER pgtrigger_changed_update_2d660 ON public.orders_orderingsettings IS '1a9134e718173a1e8ee14055f867ebe9fe110187';
CREATE TRIGGER pgtrigger_changed_update_2ef26 AFTER UPDATE ON public.accounts_membership FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.pgtrigger_changed_update_2ef26();
COMMENT ON TRIGGER pgtrigger_changed_update_2ef26 ON public.accounts_membership IS 'f4b1140bf8147ac0b910e09560c50aff402e7115';
CREATE TRIGGER pgtrigger_changed_update_3232a AFTER UPDATE ON public.reservations_serviceperiod FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.pgtrigger_changed_update_3232a();
COMMENT ON TRIGGER pgtrigger_changed_update_3232a ON public.reservations_serviceperiod IS '4a87673735c40c6ed4ef29f4b28c2782e1e3b268';
CREATE TRIGGER pgtrigger_changed_update_46070 AFTER UPDATE ON public.accounts_apikey FOR EACH ROW WHEN (((old.allowance IS DISTINCT FROM new.allowance) OR (old.app_id IS DISTINCT FROM new.app_id) OR (old.created_at IS DISTINCT FROM new.created_at) OR ((old."end")::text IS DISTINCT FROM (new."end")::text) OR (old.expires_at IS DISTINCT FROM new.expires_at) OR (old.family IS DISTINCT FROM new.family) OR (old.has_data_access IS DISTINCT FROM new.has_data_access) OR (old.id IS DISTINCT FROM new.id) OR ((old.name)::text IS DISTINCT FROM (new.name)::text) OR (old.revoked_at IS DISTINCT FROM new.revoked_at) OR (old.scopes IS DISTINCT FROM new.scopes) OR ((old.start)::text IS DISTINCT FROM (new.start)::text) OR (old.venue_id IS DISTINCT FROM new.venue_id))) EXECUTE FUNCTION public.pgtrigger_changed_update_46070();
COMMENT ON TRIGGER pgtrigger_changed_update_46070 ON public.accounts_apikey IS '83c72f09fb3fb37703a926b3b669793b06b5b433';
CREATE TRIGGER pgtrigger_changed_update_70c53 AFTER UPDATE ON public.orders_itemmodifiergroup FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.pgtrigger_changed_update_70c53();
COMMENT ON TRIGGER pgtrigger_changed_update_70c53 ON public.orders_itemmodifiergroup IS '01fb7d63d5d39dfbcf078e2f3482397416943d23';
CREATE TRIGGER pgtrigger_changed_update_74b9e AFTER UPDATE ON public.accounts_venue FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.pgtrigger_changed_update_74b9e();
COMMENT ON TRIGGER pgtrigger_changed_update_74b9e ON public.accounts_venue IS '4fcded1b08fb9ceb269e24c75698c47eac4dbd1e';
CREATE TRIGGER pgtrigger_changed_update_82097 AFTER UPDATE ON public.orders_menu FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.pgtrigger_changed_update_82097();
COMMENT ON TRIGGER pgtrigger_changed_update_82097 ON public.orders_menu IS '72638d649d8585e957a18aad1031f72d4ec324e3';
CREATE TRIGGER pgtrigger_changed_update_8be19 AFTER UPDATE ON public.orders_menuitem FOR EACH ROW WHEN (((old.allergens IS DISTINCT FROM new.allergens) OR (old.category_id IS DISTINCT FROM new.category_id) OR ((old.description)::text IS DISTINCT FROM (new.description)::text) OR (old.diets IS DISTINCT FROM new.diets) OR (old.id IS DISTINCT FROM new.id) OR (old.is_available IS DISTINCT FROM new.is_available) OR (old.menu_id IS DISTINCT FROM new.menu_id) OR ((old.name)::text IS DISTINCT FROM (new.name)::text) OR (old.photo_id IS DISTINCT FROM new.photo_id) OR (old."position" IS DISTINCT FROM new."position") OR (old.prep_minutes IS DISTINCT FROM new.prep_minutes) OR (old.price IS DISTINCT FROM new.price) OR ((old.ref)::text IS DISTINCT FROM (new.ref)::text) OR (old.sold_out_on IS DISTINCT FROM new.sold_out_on) OR (old.sold_out_until IS DISTINCT FROM new.sold_out_until) OR ((old.station)::text IS DISTINCT FROM (new.station)::text) OR (old.takeaway_tax_percent IS DISTINCT FROM new.takeaway_tax_percent) OR (old.tax_percent IS DISTINCT FROM new.tax_percent) OR (old.translations IS DISTINCT FROM new.translations))) EXECUTE FUNCTION public.pgtrigger_changed_update_8be19();
COMMENT ON TRIGGER pgtrigger_changed_update_8be19 ON public.orders_menuitem IS '416e2ff16fbdb6effd6cac38632f7146447d6434';
CREATE TRIGGER pgtrigger_changed_update_a6617 AFTER UPDATE ON public.accounts_webhookendpoint FOR EACH ROW WHEN (((old.created_at IS DISTINCT FROM new.created_at) OR ((old.description)::text IS DISTINCT FROM (new.description)::text) OR (old.disabled_at IS DISTINCT FROM new.disabled_at) OR ((old.disabled_reason)::text IS DISTINCT FROM (new.disabled_reason)::text) OR (old.grant_id IS DISTINCT FROM new.grant_id) OR (old.id IS DISTINCT FROM new.id) OR (old.old_secret_until IS DISTINCT FROM new.old_secret_until) OR (old.types IS DISTINCT FROM new.types) OR ((old.url)::text IS DISTINCT FROM (new.url)::text) OR (old.venue_id IS DISTINCT FROM new.venue_id))) EXECUTE FUNCTION public.pgtrigger_changed_update_a6617();
COMMENT ON TRIGGER pgtrigger_changed_update_a6617 ON public.accounts_webhookendpoint IS '0a3c9159b754651ac40e7d01016b18fefb9fb4ab';
CREATE TRIGGER pgtrigger_changed_update_a8d1a AFTER UPDATE ON public.orders_chargerule FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.pgtrigger_changed_update_a8d1a();
COMMENT ON TRIGGER pgtrigger_changed_update_a8d1a ON public.orders_chargerule IS 'b29d36ae6b3929d7bd5ae5c8e091aa7277806a4f';
CREATE TRIGGER pgtrigger_changed_update_ad2ed AFTER UPDATE ON public.reservations_closure FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.pgtrigger_changed_update_ad2ed();
COMMENT ON TRIGGER pgtrigger_changed_update_ad2ed ON public.reservations_closure IS 'c321c292e8c8d9f986f7fd37a1e185fa41e70fc0';
CREATE TRIGGER pgtrigger_changed_update_ae4af AFTER UPDATE ON public.orders_menucategory FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.pgtrigger_changed_update_ae4af();
COMMENT ON TRIGGER pgtrigger_changed_update_ae4af ON public.orders_menucategory IS 'd4960ca7f443a24bed44491a0a2aa1561c109fb2';
CREATE TRIGGER pgtrigger_changed_update_bb6fb AFTER UPDATE ON public.orders_modifier FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.pgtrigger_changed_update_bb6fb();
COMMENT ON TRIGGER pgtrigger_changed_update_bb6fb ON public.orders_modifier IS 'e67d06f09f9bdd6eb640026c77c05b6b4e8c452a';
CREATE TRIGGER pgtrigger_changed_update_cc0c1 AFTER UPDATE ON public.orders_modifiergroup FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.pgtrigger_changed_update_cc0c1();
COMMENT ON TRIGGER pgtrigger_changed_update_cc0c1 ON public.orders_modifiergroup IS 'eadd8b87085cc5ff9cfd24e366bc094c916b3efd';
CREATE TRIGGER pgtrigger_changed_update_cead7 AFTER UPDATE ON public.reservations_table FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.pgtrigger_changed_update_cead7();
COMMENT ON TRIGGER pgtrigger_changed_update_cead7 ON public.reservations_table IS 'c6143f15a0b59611caf5598253794da0242e1788';
CREATE TRIGGER pgtrigger_changed_update_deb2e AFTER UPDATE ON public.reservations_cancellationterms FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.pgtrigger_changed_update_deb2e();
COMMENT ON TRIGGER pgtrigger_changed_update_deb2e ON public.reservations_cancellationterms IS '43603e4239dc072f92ee622ba538b70fdbac75ea';
CREATE TRIGGER pgtrigger_removed_delete_14a20 AFTER DELETE ON public.orders_modifiergroup FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_removed_delete_14a20();
COMMENT ON TRIGGER pgtrigger_removed_delete_14a20 ON public.orders_modifiergroup IS 'b418dc5bd1d411c4f206abe4ebffe905efbd6b02';
CREATE TRIGGER pgtrigger_removed_delete_23453 AFTER DELETE ON public.orders_orderingsettings FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_removed_delete_23453();
COMMENT ON TRIGGER pgtrigger_removed_delete_23453 ON public.orders_orderingsettings IS '7dd24e8ccfac1e5b78cf1c803ff7d7a27229c0c0';
CREATE TRIGGER pgtrigger_removed_delete_27d0d AFTER DELETE ON public.orders_menu FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_removed_delete_27d0d();
COMMENT ON TRIGGER pgtrigger_removed_delete_27d0d ON public.orders_menu IS '70239b1a2e67394e4916ac6fd0330c0eb2529a28';
CREATE TRIGGER pgtrigger_removed_delete_2ce83 AFTER DELETE ON public.reservations_serviceperiod FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_removed_delete_2ce83();
COMMENT ON TRIGGER pgtrigger_removed_delete_2ce83 ON public.reservations_serviceperiod IS '4d563fb9f204e26900dbd6ef1c3714ac34d52a4c';
CREATE TRIGGER pgtrigger_removed_delete_42aee AFTER DELETE ON public.orders_modifier FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_removed_delete_42aee();
COMMENT ON TRIGGER pgtrigger_removed_delete_42aee ON public.orders_modifier IS 'c83cf5009ca5febf91dbad8609b54429bcc81ea0';
CREATE TRIGGER pgtrigger_removed_delete_4eb07 AFTER DELETE ON public.orders_menuitem FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_removed_delete_4eb07();
COMMENT ON TRIGGER pgtrigger_removed_delete_4eb07 ON public.orders_menuitem IS '5a43753a1709cfe13dc7f6276deb32d67e2ce749';
CREATE TRIGGER pgtrigger_removed_delete_523dc AFTER DELETE ON public.accounts_webhookendpoint FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_removed_delete_523dc();
COMMENT ON TRIGGER pgtrigger_removed_delete_523dc ON public.accounts_webhookendpoint IS '55d3aa9429c2072acb1dd5e0fe42d84ef85d1143';
CREATE TRIGGER pgtrigger_removed_delete_8a109 AFTER DELETE ON public.orders_menucategory FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_removed_delete_8a109();
COMMENT ON TRIGGER pgtrigger_removed_delete_8a109 ON public.orders_menucategory IS '9833e34c53a0d13296d2d0a6b243979c82894341';
CREATE TRIGGER pgtrigger_removed_delete_9ed64 AFTER DELETE ON public.orders_itemmodifiergroup FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_removed_delete_9ed64();
COMMENT ON TRIGGER pgtrigger_removed_delete_9ed64 ON public.orders_itemmodifiergroup IS '35d731dc3cc713ccf2820230d3ddb9b1571d27da';
CREATE TRIGGER pgtrigger_removed_delete_b6bd3 AFTER DELETE ON public.reservations_cancellationterms FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_removed_delete_b6bd3();
COMMENT ON TRIGGER pgtrigger_removed_delete_b6bd3 ON public.reservations_cancellationterms IS '80604365ef7d8211782c85415c599f45348df848';
CREATE TRIGGER pgtrigger_removed_delete_d22e6 AFTER DELETE ON public.reservations_table FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_removed_delete_d22e6();
COMMENT ON TRIGGER pgtrigger_removed_delete_d22e6 ON public.reservations_table IS '409b792216c47ad36ebdd9a2f75c36c73cac5976';
CREATE TRIGGER pgtrigger_removed_delete_d2b7c AFTER DELETE ON public.accounts_venue FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_removed_delete_d2b7c();
COMMENT ON TRIGGER pgtrigger_removed_delete_d2b7c ON public.accounts_venue IS '02abc99129d48aa7600f3ea398c5628ee40fb99a';
CREATE TRIGGER pgtrigger_removed_delete_d2fe0 AFTER DELETE ON public.accounts_membership FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_removed_delete_d2fe0();
COMMENT ON TRIGGER pgtrigger_removed_delete_d2fe0 ON public.accounts_membership IS 'bb522e2562c0f227550292200725938829d8f9fd';
CREATE TRIGGER pgtrigger_removed_delete_d5bea AFTER DELETE ON public.accounts_apikey FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_removed_delete_d5bea();
COMMENT ON TRIGGER pgtrigger_removed_delete_d5bea ON public.accounts_apikey IS '2a63361e623caeec574d9a023ee32727dcd7e37f';
CREATE TRIGGER pgtrigger_removed_delete_d66ae AFTER DELETE ON public.reservations_closure FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_removed_delete_d66ae();
COMMENT ON TRIGGER pgtrigger_removed_delete_d66ae ON public.reservations_closure IS '53add195ae4124c163625f05471adc1ab5029a78';
CREATE TRIGGER pgtrigger_removed_delete_eab81 AFTER DELETE ON public.orders_chargerule FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_removed_delete_eab81();
COMMENT ON TRIGGER pgtrigger_removed_delete_eab81 ON public.orders_chargerule IS '87b9820bc4bed90feb895ea8a9e70bb11bf015b0';
CREATE TRIGGER pgtrigger_staff_access_never_changes_3c226 BEFORE UPDATE ON public.accounts_staffaccess FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_staff_access_never_changes_3c226();
COMMENT ON TRIGGER pgtrigger_staff_access_never_changes_3c226 ON public.accounts_staffaccess IS '0211f941c1891a9b836acdc365f59f39fc7232e6';
CREATE TRIGGER photo_removals AFTER DELETE ON public.catalogue_photo REFERENCING OLD TABLE AS deleted_rows FOR EACH STATEMENT EXECUTE FUNCTION public.insert_removals('photos', 'ph');
CREATE TRIGGER photo_updated_at BEFORE UPDATE ON public.catalogue_photo FOR EACH ROW EXECUTE FUNCTION public.set_updated_at();
CREATE TRIGGER record_neighborhood_delete AFTER DELETE ON public.catalogue_landmark FOR EACH ROW WHEN (((old.kind)::text = 'neighborhood'::text)) EXECUTE FUNCTION public.record_neighborhood_change();
CREATE TRIGGER record_neighborhood_insert AFTER INSERT ON public.catalogue_landmark FOR EACH ROW WHEN (((new.kind)::text = 'neighborhood'::text)) EXECUTE FUNCTION public.record_neighborhood_change();
CREATE TRIGGER record_neighborhood_update AFTER UPDATE ON public.catalogue_landmark FOR EACH ROW WHEN ((((old.kind)::text = 'neighborhood'::text) OR ((new.kind)::text = 'neighborhood'::text))) EXECUTE FUNCTION public.record_neighborhood_change();
CREATE TRIGGER record_updated_at BEFORE UPDATE ON public.catalogue_record FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.set_updated_at();
CREATE TRIGGER records_added AFTER INSERT ON public.catalogue_sourcerecord REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION public.render_related_restaurants();
CREATE TRIGGER records_changed AFTER UPDATE ON public.catalogue_sourcerecord REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION public.render_related_restaurants();
CREATE TRIGGER records_moved AFTER UPDATE ON public.catalogue_sourcerecord REFERENCING OLD TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION public.render_related_restaurants();
CREATE TRIGGER records_removed AFTER DELETE ON public.catalogue_sourcerecord REFERENCING OLD TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION public.render_related_restaurants();
CREATE TRIGGER reservations_added AFTER INSERT ON public.reservations_reservation REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.update_record_counts('reservation');
CREATE TRIGGER reservations_changed AFTER UPDATE ON public.reservations_reservation REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.update_record_counts('reservation');
CREATE TRIGGER reservations_removed AFTER DELETE ON public.reservations_reservation REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION public.update_record_counts('reservation');
CREATE TRIGGER restaurant_figures_touch_record AFTER UPDATE ON public.catalogue_restaurant REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.touch_records_on_review_figures();
CREATE TRIGGER restaurant_outdates_insights AFTER UPDATE ON public.catalogue_restaurant REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.mark_insights_outdated_by_restaurants();
CREATE TRIGGER restaurant_removals AFTER DELETE ON public.catalogue_restaurant REFERENCING OLD TABLE AS deleted_rows FOR EACH STATEMENT EXECUTE FUNCTION public.insert_removals('restaurants', 'rst');
CREATE TRIGGER restaurants_added AFTER INSERT ON public.catalogue_restaurant REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.on_restaurant_insert();
CREATE TRIGGER restaurants_changed AFTER UPDATE ON public.catalogue_restaurant REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.on_restaurant_update();
CREATE TRIGGER restaurants_removed AFTER DELETE ON public.catalogue_restaurant REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION public.on_restaurant_delete();
CREATE TRIGGER review_delete_outdates_insights AFTER DELETE ON public.catalogue_review REFERENCING OLD TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION public.mark_insights_outdated_by_rows();
CREATE TRIGGER review_outdates_insights AFTER UPDATE ON public.catalogue_review REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.mark_insights_outdated_by_reviews();
CREATE TRIGGER review_removals AFTER DELETE ON public.catalogue_review REFERENCING OLD TABLE AS deleted_rows FOR EACH STATEMENT EXECUTE FUNCTION public.insert_removals('reviews', 'rev');
CREATE TRIGGER review_updated_at BEFORE UPDATE ON public.catalogue_review FOR EACH ROW EXECUTE FUNCTION public.set_updated_at();
CREATE TRIGGER reviews_changed AFTER UPDATE ON public.catalogue_review REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.insert_review_changes();
CREATE TRIGGER source_updated_at BEFORE UPDATE ON public.catalogue_source FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.set_updated_at();
CREATE TRIGGER touch_landmark AFTER INSERT OR DELETE OR UPDATE ON public.catalogue_landmarkname FOR EACH ROW EXECUTE FUNCTION public.touch_landmark();
CREATE TRIGGER venue_changed AFTER DELETE OR UPDATE ON public.accounts_venue FOR EACH STATEMENT EXECUTE FUNCTION public.count_api_key_change();
CREATE TRIGGER version_removals AFTER DELETE ON public.catalogue_version REFERENCING OLD TABLE AS deleted_rows FOR EACH STATEMENT EXECUTE FUNCTION public.insert_version_removals();
CREATE TRIGGER version_updated_at BEFORE UPDATE ON public.catalogue_version FOR EACH ROW WHEN (((old.restaurant_id IS DISTINCT FROM new.restaurant_id) OR (old.version IS DISTINCT FROM new.version) OR (old.at IS DISTINCT FROM new.at) OR ((old.actor)::text IS DISTINCT FROM (new.actor)::text) OR ((old.kind)::text IS DISTINCT FROM (new.kind)::text) OR (old.patch IS DISTINCT FROM new.patch))) EXECUTE FUNCTION public.set_updated_at();
CREATE TRIGGER webhook_endpoint_lost_grant BEFORE UPDATE OF grant_id ON public.accounts_webhookendpoint FOR EACH ROW WHEN (((old.grant_id IS NOT NULL) AND (new.grant_id IS NULL) AND (NOT (new.disabled_at IS DISTINCT FROM old.disabled_at)))) EXECUTE FUNCTION public.disable_endpoint_without_grant();
ALTER TABLE ONLY public.account_emailaddress
    ADD CONSTRAINT account_emailaddress_user_id_2c513194_fk_accounts_user_id FOREIGN KEY (user_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.account_emailconfirmation
    ADD CONSTRAINT account_emailconfirm_email_address_id_5b7f8c58_fk_account_e FOREIGN KEY (email_address_id) REFERENCES public.account_emailaddress(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.accounts_alert
    ADD CONSTRAINT accounts_alert_event_id_0e3479af_fk_accounts_event_id FOREIGN KEY (event_id) REFERENCES public.accounts_event(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.accounts_alert
    ADD CONSTRAINT accounts_alert_subscription_id_6359ac77_fk_accounts_ FOREIGN KEY (subscription_id) REFERENCES public.accounts_alertsubscription(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.accounts_alertsubscription
    ADD CONSTRAINT accounts_alertsubscr_membership_id_48b8be61_fk_accounts_ FOREIGN KEY (membership_id) REFERENCES public.accounts_membership(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.accounts_alertsubscription
    ADD CONSTRAINT accounts_alertsubscr_venue_id_c7f2c6fd_fk_accounts_ FOREIGN KEY (venue_id) REFERENCES public.accounts_venue(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.accounts_apikey
    ADD CONSTRAINT accounts_apikey_app_id_2af3ccd2_fk_accounts_oauthapp_id FOREIGN KEY (app_id) REFERENCES public.accounts_oauthapp(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.accounts_apikey
    ADD CONSTRAINT accounts_apikey_venue_id_fb78f1ae_fk_accounts_venue_id FOREIGN KEY (venue_id) REFERENCES public.accounts_venue(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.accounts_assignment
    ADD CONSTRAINT accounts_assignment_user_id_5a8ad746_fk_accounts_user_id FOREIGN KEY (user_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.accounts_demodata
    ADD CONSTRAINT accounts_demodata_venue_id_3859f1bf_fk_accounts_venue_id FOREIGN KEY (venue_id) REFERENCES public.accounts_venue(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.accounts_event
    ADD CONSTRAINT accounts_event_account_id_52fea54a_fk_accounts_account_id FOREIGN KEY (account_id) REFERENCES public.accounts_account(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.accounts_event
    ADD CONSTRAINT accounts_event_venue_id_aba11a66_fk_accounts_venue_id FOREIGN KEY (venue_id) REFERENCES public.accounts_venue(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.accounts_invitation_venues
    ADD CONSTRAINT accounts_invitation__invitation_id_e25666e6_fk_accounts_ FOREIGN KEY (invitation_id) REFERENCES public.accounts_invitation(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.accounts_invitation_venues
    ADD CONSTRAINT accounts_invitation__venue_id_b546da75_fk_accounts_ FOREIGN KEY (venue_id) REFERENCES public.accounts_venue(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.accounts_invitation
    ADD CONSTRAINT accounts_invitation_account_id_8e9dd036_fk_accounts_account_id FOREIGN KEY (account_id) REFERENCES public.accounts_account(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.accounts_invitation
    ADD CONSTRAINT accounts_invitation_invited_by_id_94a21efc_fk_accounts_user_id FOREIGN KEY (invited_by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.accounts_membership_venues
    ADD CONSTRAINT accounts_membership__membership_id_4ba12327_fk_accounts_ FOREIGN KEY (membership_id) REFERENCES public.accounts_membership(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.accounts_membership_venues
    ADD CONSTRAINT accounts_membership__venue_id_bbcced4f_fk_accounts_ FOREIGN KEY (venue_id) REFERENCES public.accounts_venue(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.accounts_membership
    ADD CONSTRAINT accounts_membership_account_id_4cff857d_fk_accounts_account_id FOREIGN KEY (account_id) REFERENCES public.accounts_account(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.accounts_membership
    ADD CONSTRAINT accounts_membership_user_id_487fb39e_fk_accounts_user_id FOREIGN KEY (user_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.accounts_oauthapp
    ADD CONSTRAINT accounts_oauthapp_account_id_5167572b_fk_accounts_account_id FOREIGN KEY (account_id) REFERENCES public.accounts_account(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.accounts_oauthcode
    ADD CONSTRAINT accounts_oauthcode_grant_id_022ac9f9_fk_accounts_oauthgrant_id FOREIGN KEY (grant_id) REFERENCES public.accounts_oauthgrant(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.accounts_oauthgrant
    ADD CONSTRAINT accounts_oauthgrant_account_id_fea718f8_fk_accounts_account_id FOREIGN KEY (account_id) REFERENCES public.accounts_account(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.accounts_oauthgrant
    ADD CONSTRAINT accounts_oauthgrant_app_id_7196d70f_fk_accounts_oauthapp_id FOREIGN KEY (app_id) REFERENCES public.accounts_oauthapp(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.accounts_oauthgrant
    ADD CONSTRAINT accounts_oauthgrant_user_id_3384734b_fk_accounts_user_id FOREIGN KEY (user_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.accounts_oauthgrant
    ADD CONSTRAINT accounts_oauthgrant_venue_id_3e83ab64_fk_accounts_venue_id FOREIGN KEY (venue_id) REFERENCES public.accounts_venue(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.accounts_oauthtoken
    ADD CONSTRAINT accounts_oauthtoken_grant_id_dfd00bed_fk_accounts_oauthgrant_id FOREIGN KEY (grant_id) REFERENCES public.accounts_oauthgrant(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.accounts_pushdevice
    ADD CONSTRAINT accounts_pushdevice_user_id_dda29fa8_fk_accounts_user_id FOREIGN KEY (user_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.accounts_recordcount
    ADD CONSTRAINT accounts_recordcount_venue_id_8c47b292_fk_accounts_venue_id FOREIGN KEY (venue_id) REFERENCES public.accounts_venue(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.accounts_sandboxclock
    ADD CONSTRAINT accounts_sandboxclock_venue_id_8e7f6e60_fk_accounts_venue_id FOREIGN KEY (venue_id) REFERENCES public.accounts_venue(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.accounts_savedfilter
    ADD CONSTRAINT accounts_savedfilter_user_id_3251a328_fk_accounts_user_id FOREIGN KEY (user_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.accounts_staffaccess
    ADD CONSTRAINT accounts_staffaccess_venue_id_16b7ab5d_fk_accounts_venue_id FOREIGN KEY (venue_id) REFERENCES public.accounts_venue(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.accounts_user_groups
    ADD CONSTRAINT accounts_user_groups_group_id_bd11a704_fk_auth_group_id FOREIGN KEY (group_id) REFERENCES public.auth_group(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.accounts_user_groups
    ADD CONSTRAINT accounts_user_groups_user_id_52b62117_fk_accounts_user_id FOREIGN KEY (user_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.accounts_user_user_permissions
    ADD CONSTRAINT accounts_user_user_p_permission_id_113bb443_fk_auth_perm FOREIGN KEY (permission_id) REFERENCES public.auth_permission(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.accounts_user_user_permissions
    ADD CONSTRAINT accounts_user_user_p_user_id_e4f0a161_fk_accounts_ FOREIGN KEY (user_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.accounts_venue
    ADD CONSTRAINT accounts_venue_account_id_b700473d_fk_accounts_account_id FOREIGN KEY (account_id) REFERENCES public.accounts_account(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.accounts_webhookdelivery
    ADD CONSTRAINT accounts_webhookdeli_endpoint_id_bf21cfff_fk_accounts_ FOREIGN KEY (endpoint_id) REFERENCES public.accounts_webhookendpoint(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.accounts_webhookdelivery
    ADD CONSTRAINT accounts_webhookdelivery_event_id_ff7f0aaa_fk_accounts_event_id FOREIGN KEY (event_id) REFERENCES public.accounts_event(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.accounts_webhookendpoint
    ADD CONSTRAINT accounts_webhookendp_grant_id_1a4627a4_fk_accounts_ FOREIGN KEY (grant_id) REFERENCES public.accounts_oauthgrant(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.accounts_webhookendpoint
    ADD CONSTRAINT accounts_webhookendpoint_venue_id_dff65153_fk_accounts_venue_id FOREIGN KEY (venue_id) REFERENCES public.accounts_venue(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.auth_group_permissions
    ADD CONSTRAINT auth_group_permissio_permission_id_84c5c92e_fk_auth_perm FOREIGN KEY (permission_id) REFERENCES public.auth_permission(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.auth_group_permissions
    ADD CONSTRAINT auth_group_permissions_group_id_b120cbf9_fk_auth_group_id FOREIGN KEY (group_id) REFERENCES public.auth_group(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.auth_permission
    ADD CONSTRAINT auth_permission_content_type_id_2f476e4b_fk_django_co FOREIGN KEY (content_type_id) REFERENCES public.django_content_type(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_deposit
    ADD CONSTRAINT catalogue_deposit_booking_id_2d5c940f_fk_catalogue FOREIGN KEY (booking_id) REFERENCES public.catalogue_flowbooking(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_deposit
    ADD CONSTRAINT catalogue_deposit_payment_id_02a09cef_fk_payments_payment_id FOREIGN KEY (payment_id) REFERENCES public.payments_payment(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_export
    ADD CONSTRAINT catalogue_export_payment_id_84af6896_fk_payments_payment_id FOREIGN KEY (payment_id) REFERENCES public.payments_payment(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_export
    ADD CONSTRAINT catalogue_export_since_export_id_a15be328_fk_catalogue FOREIGN KEY (since_export_id) REFERENCES public.catalogue_export(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_export
    ADD CONSTRAINT catalogue_export_wallet_id_df1a9bfd_fk_payments_wallet_address FOREIGN KEY (wallet_id) REFERENCES public.payments_wallet(address) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_exportpart
    ADD CONSTRAINT catalogue_exportpart_export_id_9d9654c4_fk_catalogue_export_id FOREIGN KEY (export_id) REFERENCES public.catalogue_export(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_flowbooking
    ADD CONSTRAINT catalogue_flowbookin_reservation_id_adae2c11_fk_reservati FOREIGN KEY (reservation_id) REFERENCES public.reservations_reservation(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_flowbooking
    ADD CONSTRAINT catalogue_flowbooking_slot_id_78f06e4d_fk_catalogue_flowslot_id FOREIGN KEY (slot_id) REFERENCES public.catalogue_flowslot(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_flowrule
    ADD CONSTRAINT catalogue_flowrule_restaurant_id_ed04ffa7_fk_catalogue FOREIGN KEY (restaurant_id) REFERENCES public.catalogue_restaurant(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_flowrule
    ADD CONSTRAINT catalogue_flowrule_source_record_id_9fee9780_fk_catalogue FOREIGN KEY (source_record_id) REFERENCES public.catalogue_sourcerecord(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_flowslot
    ADD CONSTRAINT catalogue_flowslot_restaurant_id_22dafed0_fk_catalogue FOREIGN KEY (restaurant_id) REFERENCES public.catalogue_restaurant(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_flowslot
    ADD CONSTRAINT catalogue_flowslot_rule_id_38a08328_fk_catalogue_flowrule_id FOREIGN KEY (rule_id) REFERENCES public.catalogue_flowrule(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_formerslug
    ADD CONSTRAINT catalogue_formerslug_restaurant_id_244089cb_fk_catalogue FOREIGN KEY (restaurant_id) REFERENCES public.catalogue_restaurant(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_holiday
    ADD CONSTRAINT catalogue_holiday_market_id_6927f0d1_fk_catalogue_market_slug FOREIGN KEY (market_id) REFERENCES public.catalogue_market(slug) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_importrun
    ADD CONSTRAINT catalogue_importrun_market_id_1ab47a6b_fk_catalogue_market_slug FOREIGN KEY (market_id) REFERENCES public.catalogue_market(slug) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_importrun
    ADD CONSTRAINT catalogue_importrun_source_id_9170a710_fk_catalogue_source_key FOREIGN KEY (source_id) REFERENCES public.catalogue_source(key) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_insight
    ADD CONSTRAINT catalogue_insight_restaurant_id_33a9026c_fk_catalogue FOREIGN KEY (restaurant_id) REFERENCES public.catalogue_restaurant(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_insightcall
    ADD CONSTRAINT catalogue_insightcal_restaurant_id_57c6f55e_fk_catalogue FOREIGN KEY (restaurant_id) REFERENCES public.catalogue_restaurant(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_insightdemand
    ADD CONSTRAINT catalogue_insightdem_restaurant_id_310d650a_fk_catalogue FOREIGN KEY (restaurant_id) REFERENCES public.catalogue_restaurant(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_kitchen
    ADD CONSTRAINT catalogue_kitchen_restaurant_id_4db49fbc_fk_catalogue FOREIGN KEY (restaurant_id) REFERENCES public.catalogue_searchrow(restaurant_id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_landmark
    ADD CONSTRAINT catalogue_landmark_market_id_701d9ef2_fk_catalogue_market_slug FOREIGN KEY (market_id) REFERENCES public.catalogue_market(slug) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_landmark
    ADD CONSTRAINT catalogue_landmark_source_id_7281b34d_fk_catalogue_source_key FOREIGN KEY (source_id) REFERENCES public.catalogue_source(key) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_landmarkname
    ADD CONSTRAINT catalogue_landmarkna_landmark_id_3e34725c_fk_catalogue FOREIGN KEY (landmark_id) REFERENCES public.catalogue_landmark(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_listing
    ADD CONSTRAINT catalogue_listing_restaurant_id_f86aab5b_fk_catalogue FOREIGN KEY (restaurant_id) REFERENCES public.catalogue_restaurant(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_listing
    ADD CONSTRAINT catalogue_listing_venue_id_6042287f_fk_accounts_venue_id FOREIGN KEY (venue_id) REFERENCES public.accounts_venue(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_matchcandidate
    ADD CONSTRAINT catalogue_matchcandi_decided_by_id_9df700c4_fk_accounts_ FOREIGN KEY (decided_by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_matchcandidate
    ADD CONSTRAINT catalogue_matchcandi_first_id_39c83912_fk_catalogue FOREIGN KEY (first_id) REFERENCES public.catalogue_restaurant(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_matchcandidate
    ADD CONSTRAINT catalogue_matchcandi_second_id_2ab6d1be_fk_catalogue FOREIGN KEY (second_id) REFERENCES public.catalogue_restaurant(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_photo
    ADD CONSTRAINT catalogue_photo_restaurant_id_c8ed5a06_fk_catalogue FOREIGN KEY (restaurant_id) REFERENCES public.catalogue_restaurant(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_photo
    ADD CONSTRAINT catalogue_photo_review_id_f4d1bca9_fk_catalogue_review_id FOREIGN KEY (review_id) REFERENCES public.catalogue_review(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_photo
    ADD CONSTRAINT catalogue_photo_source_id_16da3c15_fk_catalogue_source_key FOREIGN KEY (source_id) REFERENCES public.catalogue_source(key) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_photoimport
    ADD CONSTRAINT catalogue_photoimpor_restaurant_id_5bd0d420_fk_catalogue FOREIGN KEY (restaurant_id) REFERENCES public.catalogue_restaurant(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_photoimport
    ADD CONSTRAINT catalogue_photoimpor_source_id_29a2fef3_fk_catalogue FOREIGN KEY (source_id) REFERENCES public.catalogue_source(key) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_photoimport
    ADD CONSTRAINT catalogue_photoimport_photo_id_409a4f97_fk_catalogue_photo_id FOREIGN KEY (photo_id) REFERENCES public.catalogue_photo(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_record
    ADD CONSTRAINT catalogue_record_restaurant_id_b1bccf07_fk_catalogue FOREIGN KEY (restaurant_id) REFERENCES public.catalogue_restaurant(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_report
    ADD CONSTRAINT catalogue_report_decided_by_id_420b20c7_fk_accounts_user_id FOREIGN KEY (decided_by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_report
    ADD CONSTRAINT catalogue_report_restaurant_id_7d1836f4_fk_catalogue FOREIGN KEY (restaurant_id) REFERENCES public.catalogue_restaurant(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_report
    ADD CONSTRAINT catalogue_report_same_as_id_3095855a_fk_catalogue_restaurant_id FOREIGN KEY (same_as_id) REFERENCES public.catalogue_restaurant(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_restaurant
    ADD CONSTRAINT catalogue_restaurant_cuisine_id_1d861cc4_fk_catalogue FOREIGN KEY (cuisine_id) REFERENCES public.catalogue_cuisine(slug) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_restaurantclaim
    ADD CONSTRAINT catalogue_restaurant_decided_by_id_ce254331_fk_accounts_ FOREIGN KEY (decided_by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_restaurant
    ADD CONSTRAINT catalogue_restaurant_market_id_e7c8829a_fk_catalogue FOREIGN KEY (market_id) REFERENCES public.catalogue_market(slug) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_restaurant
    ADD CONSTRAINT catalogue_restaurant_merged_into_id_1ac16507_fk_catalogue FOREIGN KEY (merged_into_id) REFERENCES public.catalogue_restaurant(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_restaurantclaim
    ADD CONSTRAINT catalogue_restaurant_requested_by_id_64d9a4d7_fk_accounts_ FOREIGN KEY (requested_by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_restaurantclaim
    ADD CONSTRAINT catalogue_restaurant_restaurant_id_096dab7c_fk_catalogue FOREIGN KEY (restaurant_id) REFERENCES public.catalogue_restaurant(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_restaurantclaim
    ADD CONSTRAINT catalogue_restaurant_venue_id_471da703_fk_accounts_ FOREIGN KEY (venue_id) REFERENCES public.accounts_venue(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_review
    ADD CONSTRAINT catalogue_review_restaurant_id_fd791e6f_fk_catalogue FOREIGN KEY (restaurant_id) REFERENCES public.catalogue_restaurant(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_review
    ADD CONSTRAINT catalogue_review_source_id_67cbc1b6_fk_catalogue_source_key FOREIGN KEY (source_id) REFERENCES public.catalogue_source(key) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_searchrow
    ADD CONSTRAINT catalogue_searchrow_restaurant_id_76eaf13a_fk_catalogue FOREIGN KEY (restaurant_id) REFERENCES public.catalogue_restaurant(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_sourcerecord
    ADD CONSTRAINT catalogue_sourcereco_restaurant_id_e3db45c0_fk_catalogue FOREIGN KEY (restaurant_id) REFERENCES public.catalogue_restaurant(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_sourcerecord
    ADD CONSTRAINT catalogue_sourcereco_source_id_15064a59_fk_catalogue FOREIGN KEY (source_id) REFERENCES public.catalogue_source(key) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.catalogue_version
    ADD CONSTRAINT catalogue_version_restaurant_id_84d0cf39_fk_catalogue FOREIGN KEY (restaurant_id) REFERENCES public.catalogue_restaurant(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.django_admin_log
    ADD CONSTRAINT django_admin_log_content_type_id_c4bce8eb_fk_django_co FOREIGN KEY (content_type_id) REFERENCES public.django_content_type(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.django_admin_log
    ADD CONSTRAINT django_admin_log_user_id_c564eba6_fk_accounts_user_id FOREIGN KEY (user_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.orders_itemmodifiergroup
    ADD CONSTRAINT item_modifier_group_on_one_menu FOREIGN KEY (group_id, menu_id) REFERENCES public.orders_modifiergroup(id, menu_id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.orders_itemmodifiergroup
    ADD CONSTRAINT item_with_a_modifier_group_on_one_menu FOREIGN KEY (item_id, menu_id) REFERENCES public.orders_menuitem(id, menu_id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.orders_menuitem
    ADD CONSTRAINT menu_item_and_its_category_on_one_menu FOREIGN KEY (category_id, menu_id) REFERENCES public.orders_menucategory(id, menu_id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.mfa_authenticator
    ADD CONSTRAINT mfa_authenticator_user_id_0c3a50c0_fk_accounts_user_id FOREIGN KEY (user_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.orders_modifier
    ADD CONSTRAINT modifier_and_its_dish_on_one_menu FOREIGN KEY (item_id, menu_id) REFERENCES public.orders_menuitem(id, menu_id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.orders_modifier
    ADD CONSTRAINT modifier_and_its_group_on_one_menu FOREIGN KEY (group_id, menu_id) REFERENCES public.orders_modifiergroup(id, menu_id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.orders_modifier
    ADD CONSTRAINT modifier_and_its_nested_group_on_one_menu FOREIGN KEY (nested_group_id, menu_id) REFERENCES public.orders_modifiergroup(id, menu_id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.orders_chargerule
    ADD CONSTRAINT orders_chargerule_venue_id_db4dce03_fk_accounts_venue_id FOREIGN KEY (venue_id) REFERENCES public.accounts_venue(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.orders_checkoutsession
    ADD CONSTRAINT orders_checkoutsession_order_id_6dd06e66_fk_orders_order_id FOREIGN KEY (order_id) REFERENCES public.orders_order(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.orders_checkoutsession
    ADD CONSTRAINT orders_checkoutsession_venue_id_f620bb4c_fk_accounts_venue_id FOREIGN KEY (venue_id) REFERENCES public.accounts_venue(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.orders_itemmodifiergroup
    ADD CONSTRAINT orders_itemmodifierg_group_id_4e412be5_fk_orders_mo FOREIGN KEY (group_id) REFERENCES public.orders_modifiergroup(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.orders_itemmodifiergroup
    ADD CONSTRAINT orders_itemmodifiergroup_item_id_24164c09_fk_orders_menuitem_id FOREIGN KEY (item_id) REFERENCES public.orders_menuitem(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.orders_itemmodifiergroup
    ADD CONSTRAINT orders_itemmodifiergroup_menu_id_d432a193_fk_orders_menu_id FOREIGN KEY (menu_id) REFERENCES public.orders_menu(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.orders_menu
    ADD CONSTRAINT orders_menu_venue_id_edbabab0_fk_accounts_venue_id FOREIGN KEY (venue_id) REFERENCES public.accounts_venue(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.orders_menucategory
    ADD CONSTRAINT orders_menucategory_menu_id_00a5e3ff_fk_orders_menu_id FOREIGN KEY (menu_id) REFERENCES public.orders_menu(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.orders_menuitem
    ADD CONSTRAINT orders_menuitem_category_id_c5c025fe_fk_orders_menucategory_id FOREIGN KEY (category_id) REFERENCES public.orders_menucategory(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.orders_menuitem
    ADD CONSTRAINT orders_menuitem_menu_id_3927d793_fk_orders_menu_id FOREIGN KEY (menu_id) REFERENCES public.orders_menu(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.orders_menuitem
    ADD CONSTRAINT orders_menuitem_photo_id_c3765d0a_fk_orders_dishphoto_id FOREIGN KEY (photo_id) REFERENCES public.orders_dishphoto(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.orders_menuupload
    ADD CONSTRAINT orders_menuupload_venue_id_591d8746_fk_accounts_venue_id FOREIGN KEY (venue_id) REFERENCES public.accounts_venue(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.orders_modifier
    ADD CONSTRAINT orders_modifier_group_id_5f5d9b81_fk_orders_modifiergroup_id FOREIGN KEY (group_id) REFERENCES public.orders_modifiergroup(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.orders_modifier
    ADD CONSTRAINT orders_modifier_item_id_590129e7_fk_orders_menuitem_id FOREIGN KEY (item_id) REFERENCES public.orders_menuitem(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.orders_modifier
    ADD CONSTRAINT orders_modifier_menu_id_ec381f7d_fk_orders_menu_id FOREIGN KEY (menu_id) REFERENCES public.orders_menu(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.orders_modifier
    ADD CONSTRAINT orders_modifier_nested_group_id_8b5047e7_fk_orders_mo FOREIGN KEY (nested_group_id) REFERENCES public.orders_modifiergroup(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.orders_modifiergroup
    ADD CONSTRAINT orders_modifiergroup_menu_id_0b4e6603_fk_orders_menu_id FOREIGN KEY (menu_id) REFERENCES public.orders_menu(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.orders_order
    ADD CONSTRAINT orders_order_venue_id_f2a030c3_fk_accounts_venue_id FOREIGN KEY (venue_id) REFERENCES public.accounts_venue(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.orders_orderingsettings
    ADD CONSTRAINT orders_orderingsettings_venue_id_f2e93725_fk_accounts_venue_id FOREIGN KEY (venue_id) REFERENCES public.accounts_venue(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.orders_orderitem
    ADD CONSTRAINT orders_orderitem_order_id_fe61a34d_fk_orders_order_id FOREIGN KEY (order_id) REFERENCES public.orders_order(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.orders_ordernumber
    ADD CONSTRAINT orders_ordernumber_venue_id_95907714_fk_accounts_venue_id FOREIGN KEY (venue_id) REFERENCES public.accounts_venue(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.orders_orderslot
    ADD CONSTRAINT orders_orderslot_venue_id_b0695176_fk_accounts_venue_id FOREIGN KEY (venue_id) REFERENCES public.accounts_venue(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.payments_billing
    ADD CONSTRAINT payments_billing_account_id_ce3361e3_fk_accounts_account_id FOREIGN KEY (account_id) REFERENCES public.accounts_account(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.payments_holdingsnapshot
    ADD CONSTRAINT payments_holdingsnap_wallet_id_8d3fecd9_fk_payments_ FOREIGN KEY (wallet_id) REFERENCES public.payments_wallet(address) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.payments_invoice
    ADD CONSTRAINT payments_invoice_account_id_bb78a876_fk_accounts_account_id FOREIGN KEY (account_id) REFERENCES public.accounts_account(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.payments_plan
    ADD CONSTRAINT payments_plan_account_id_36184858_fk_accounts_account_id FOREIGN KEY (account_id) REFERENCES public.accounts_account(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.payments_plan
    ADD CONSTRAINT payments_plan_wallet_id_460e3a5f_fk_payments_wallet_address FOREIGN KEY (wallet_id) REFERENCES public.payments_wallet(address) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.payments_price
    ADD CONSTRAINT payments_price_product_id_58ace98a_fk_payments_product_slug FOREIGN KEY (product_id) REFERENCES public.payments_product(slug) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.payments_refund
    ADD CONSTRAINT payments_refund_payment_id_a70693f7_fk_payments_payment_id FOREIGN KEY (payment_id) REFERENCES public.payments_payment(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.payments_wallet
    ADD CONSTRAINT payments_wallet_account_id_abbcf483_fk_accounts_account_id FOREIGN KEY (account_id) REFERENCES public.accounts_account(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.payments_walletsession
    ADD CONSTRAINT payments_walletsessi_wallet_id_e49273b5_fk_payments_ FOREIGN KEY (wallet_id) REFERENCES public.payments_wallet(address) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.reservations_agreedterms
    ADD CONSTRAINT reservations_agreedt_reservation_id_4fb7452f_fk_reservati FOREIGN KEY (reservation_id) REFERENCES public.reservations_reservation(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.reservations_area
    ADD CONSTRAINT reservations_area_venue_id_edc20a5f_fk_accounts_venue_id FOREIGN KEY (venue_id) REFERENCES public.accounts_venue(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.reservations_branding
    ADD CONSTRAINT reservations_brandin_logo_id_3e8d7315_fk_reservati FOREIGN KEY (logo_id) REFERENCES public.reservations_brandingimage(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.reservations_branding
    ADD CONSTRAINT reservations_brandin_photo_id_9c36b9ee_fk_reservati FOREIGN KEY (photo_id) REFERENCES public.reservations_brandingimage(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.reservations_branding
    ADD CONSTRAINT reservations_branding_venue_id_6cb4f0dd_fk_accounts_venue_id FOREIGN KEY (venue_id) REFERENCES public.accounts_venue(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.reservations_cancellationterms
    ADD CONSTRAINT reservations_cancell_venue_id_2b02032c_fk_accounts_ FOREIGN KEY (venue_id) REFERENCES public.accounts_venue(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.reservations_closure
    ADD CONSTRAINT reservations_closure_venue_id_4b2362be_fk_accounts_venue_id FOREIGN KEY (venue_id) REFERENCES public.accounts_venue(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.reservations_combination_tables
    ADD CONSTRAINT reservations_combina_combination_id_f287ac68_fk_reservati FOREIGN KEY (combination_id) REFERENCES public.reservations_combination(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.reservations_combination_tables
    ADD CONSTRAINT reservations_combina_table_id_f5b08994_fk_reservati FOREIGN KEY (table_id) REFERENCES public.reservations_table(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.reservations_combination
    ADD CONSTRAINT reservations_combination_venue_id_b13a4778_fk_accounts_venue_id FOREIGN KEY (venue_id) REFERENCES public.accounts_venue(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.reservations_guestcontact
    ADD CONSTRAINT reservations_guestco_profile_id_b882ecdc_fk_reservati FOREIGN KEY (profile_id) REFERENCES public.reservations_guestprofile(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.reservations_guestcontact
    ADD CONSTRAINT reservations_guestco_venue_id_44c0b382_fk_accounts_ FOREIGN KEY (venue_id) REFERENCES public.accounts_venue(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.reservations_guestmail
    ADD CONSTRAINT reservations_guestma_reservation_id_fd70ae05_fk_reservati FOREIGN KEY (reservation_id) REFERENCES public.reservations_reservation(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.reservations_guestprofile
    ADD CONSTRAINT reservations_guestpr_merged_into_id_462fe074_fk_reservati FOREIGN KEY (merged_into_id) REFERENCES public.reservations_guestprofile(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.reservations_guestprofile
    ADD CONSTRAINT reservations_guestpr_venue_id_76d49177_fk_accounts_ FOREIGN KEY (venue_id) REFERENCES public.accounts_venue(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.reservations_hold
    ADD CONSTRAINT reservations_hold_area_id_dbffa80c_fk_reservations_area_id FOREIGN KEY (area_id) REFERENCES public.reservations_area(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.reservations_hold
    ADD CONSTRAINT reservations_hold_venue_id_61f1c378_fk_accounts_venue_id FOREIGN KEY (venue_id) REFERENCES public.accounts_venue(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.reservations_onlinebooking
    ADD CONSTRAINT reservations_onlineb_reservation_id_d11afa0d_fk_reservati FOREIGN KEY (reservation_id) REFERENCES public.reservations_reservation(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.reservations_reservation
    ADD CONSTRAINT reservations_reservation_venue_id_6c092c08_fk_accounts_venue_id FOREIGN KEY (venue_id) REFERENCES public.accounts_venue(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.reservations_seating
    ADD CONSTRAINT reservations_seating_reservation_id_4c93f778_fk_reservati FOREIGN KEY (reservation_id) REFERENCES public.reservations_reservation(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.reservations_seating
    ADD CONSTRAINT reservations_seating_table_id_3eee3bc7_fk_reservations_table_id FOREIGN KEY (table_id) REFERENCES public.reservations_table(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.reservations_serviceperiod
    ADD CONSTRAINT reservations_service_venue_id_b0a8750e_fk_accounts_ FOREIGN KEY (venue_id) REFERENCES public.accounts_venue(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.reservations_table
    ADD CONSTRAINT reservations_table_area_id_a9896987_fk_reservations_area_id FOREIGN KEY (area_id) REFERENCES public.reservations_area(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.reservations_table
    ADD CONSTRAINT reservations_table_venue_id_f005f5a9_fk_accounts_venue_id FOREIGN KEY (venue_id) REFERENCES public.accounts_venue(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.reservations_seating
    ADD CONSTRAINT seating_hold FOREIGN KEY (hold_id) REFERENCES public.reservations_hold(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.usersessions_usersession
    ADD CONSTRAINT usersessions_usersession_user_id_af5e0a6d_fk_accounts_user_id FOREIGN KEY (user_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;
