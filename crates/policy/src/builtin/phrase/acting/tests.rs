use crate::builtin::names::{Class, class};

/// Whether all of the names are those of tools that only read, or none is.
fn assert_reading(names: &str, reads: bool) {
    for name in names.split_whitespace() {
        assert_eq!(class(name) == Class::Observe, reads, "{name}");
    }
}

#[test]
fn a_verb_behind_the_name_of_a_product_counts() {
    assert_reading(
        "zoom_schedule_meeting zoom_update_meeting zoom_start_meeting zoom_post_message recall_start_bot recall_stop_bot \
         tally_post_voucher tally_import_ledgers echo_play_music ping_sync_users forecast_update_project poll_vote \
         zoom_start zoomScheduleMeeting outline_post_document",
        false,
    );
    assert_reading(
        "zoom_list_meetings zoom_get_meeting zoom ping ping_host echo poll_events poll_order_status watch_order_status \
         forecast_orders recall_memory poll_build_status echo_message tail_build_logs watch_build_status \
         peek_queue_messages get_vote votes_by_id list_order_items validate_order_items analyze_email_thread",
        true,
    );
}

#[test]
fn an_unknown_first_word_may_be_the_verb() {
    assert_reading(
        "voidInvoiceById fulfill_orders_by_id burn_tokens_by_id quarantine_devices_by_id isolate_hosts_by_id \
         decommission_servers_by_id whitelist_users_by_ip snooze_alerts_by_id ack_messages_by_id frobnicate_orders_by_id \
         blast_contacts_list ship_products_list boost_user_profile frobnicate_tasks_list silence_health_check \
         snooze_uptime_monitor void_user_check burn_token_search burn_list_tokens transition_ticket_status \
         transition_ticket_state decommission_server_status arm_alarm disarm_alarm unfriend_user drain_node cordon_node \
         uncordon_node denylist_ip",
        false,
    );
    assert_reading(
        "jobs_by_account_id account_jobs_by_id kubernetes_pods_list hyperdrive_configs_list get_transition get_ship \
         get_burn_rate list_silences get_silence silence_list quarantine_list transition_list get_arm_status arm_template_list \
         blast_search check_allowlist whitelist_list",
        true,
    );
}

#[test]
fn the_object_of_a_verb_that_reads_may_make_it_act() {
    assert_reading(
        "simulate_click simulate_tap simulate_keypress list_nft_for_sale list_item_for_sale watch_repository \
         unwatch_repository check_todo checkTodo",
        false,
    );
    assert_eq!(class("simulate_click"), class("click"));
    assert_eq!(class("simulate_keypress"), class("keypress"));
    assert_reading(
        "simulate_trade simulate_transaction list_homes_for_sale list_items watch_pods watch_repository_events check_todos \
         check_todo_status emulate_touch",
        true,
    );
}

#[test]
fn a_verb_behind_a_list_acts_on_what_is_in_it() {
    assert_reading(
        "HassListCompleteItem HassShoppingListCompleteItem shopping_list_complete_item shopping_list_check_item \
         shopping_list_item_done list_item_done mailchimp_list_member_tag twitter_list_follow mailing_list_post items_list_purchase audit_fix \
         npm_audit_fix scan_fix check_run_rerequest get_new_phone_number get_new_token saved_search_run parse_prd show_notification spotify_seek seekTo",
        false,
    );
    assert_reading(
        "list_deployments list_orders shop_list_orders shop_list_order_items shop_list_order_status \
         github_list_pull_requests gitlab_list_merge_requests list_check_runs search_fix get_new_messages parse_document saved_search_list",
        true,
    );
}

#[test]
fn what_is_exported_to_a_place_is_sent() {
    assert_reading(
        "export_csv_to_s3 export_json_to_s3 export_markdown_to_notion generate_report_to_slack export_csv_into_s3",
        false,
    );
    assert_reading(
        "export_csv export_image_to_pdf export_markdown_to_html generate_report generate_report_to_pdf \
         convert_currency_to_usd",
        true,
    );
}
